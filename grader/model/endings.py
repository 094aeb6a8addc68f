"""What a check can end with, besides passing. Each is raised where it is met, and `session.decide` makes the verdict.

BaseException
├── Exception
│   ├── CheckFailed     a property does not hold                        → failed   (an AssertionError)
│   ├── CannotJudge     there is nothing to judge by                    → skipped
│   └── Inconclusive    the machine is too busy to judge speed          → inconclusive
├── WorkerLost          the worker can answer no more                   → whatever it was lost for
└── CheckTimeout        the check's own code took too long              → broken

Two more endings are no classes of ours: what student code raised, which is raised again as its plain builtin type (see
`remote.raised`), and any other exception, which is a fault of the check: broken.

The last two of the drawing derive from BaseException, so that neither a `pytest.raises` nor an `except Exception` in a
check can swallow them.
"""

from __future__ import annotations

from grader.model.check import Verdict


class CheckFailed(AssertionError):
    """A property does not hold.

    Attributes:
        public: the property, safe to tell of a hidden input.
        story: the same with numbers.
    """

    def __init__(self, public: str, story: str = "") -> None:
        self.public = public
        self.story = story or public
        super().__init__(self.story)


class CannotJudge(Exception):
    """A check cannot be judged."""


class Inconclusive(Exception):
    """The machine is too busy to judge speed."""


class WorkerLost(BaseException):
    """A worker that can answer no more.

    Attributes:
        verdict: what the check gets.
        message: for the student.
        in_load: whether it was lost while it loaded the submission.
    """

    def __init__(self, verdict: Verdict, message: str) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.message = message
        self.in_load = False


class CheckTimeout(BaseException):
    """The check's own code took too long; calls into the worker are not counted."""
