"""`python -m grader.drawing.script FILE [ARGUMENT]...`: runs a script as Python does, in a block of `explain`."""

from __future__ import annotations

import os
import runpy
import sys
import traceback

from grader.drawing.for_you import explain


def main(arguments: list[str]) -> int:
    """Run a script in a block of `explain`, and return its exit status."""
    path = arguments[0]
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    try:
        with explain():
            runpy.run_path(path, run_name="__main__")
    except Exception as error:
        _print_traceback_from(path, error)
        return 1
    return 0


def _print_traceback_from(path: str, error: BaseException) -> None:
    """Print a traceback as Python does, from the script's first frame on.

    The frames above that frame are ours and those of `runpy`. If the error has no explanation, a sentence says so.
    """
    rest = error.__traceback__
    while rest is not None and rest.tb_frame.f_code.co_filename != path:
        rest = rest.tb_next
    traceback.print_exception(type(error), error, rest if rest is not None else error.__traceback__)
    if not getattr(error, "__notes__", None):
        print("grade explain: no call of PyTorch raised this, or its operands show no reason.", file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
