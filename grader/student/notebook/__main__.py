"""`python -m grader.student.notebook`: the process of ours that a kernel talks with, a line of JSON each way."""

from __future__ import annotations

import json
import os
import sys

from grader.student.notebook.grading import Desk


def main() -> None:
    """Answer requests until the kernel is gone."""
    # Whatever prints at import must not reach the kernel in the middle of an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(answer: dict[str, str]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    with Desk(lambda going_on: tell({"waiting": going_on})) as desk:
        for line in sys.stdin:
            tell(desk.answer(json.loads(line)))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
