"""`grade`, which is also `python -m grader`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command in a process that an earlier command left ready; without such a process, run it here."""
    if sys.platform == "linux":
        try:
            from grader.runner.hand_over import hand_over

            hand_over(sys.argv[1:])
        except BaseException:
            from grader.report.console import errors_as_lines  # not before: it imports click

            with errors_as_lines():
                raise
    from grader.cli import main as grade  # not before, for the same reason

    grade()


if __name__ == "__main__":
    main()
