"""What a check can end with, besides passing. Each is raised where it is met, and `session.decide` makes the verdict.

BaseException
├── Exception
│   ├── CheckFailed     a property does not hold                        → failed   (an AssertionError)
│   ├── CannotJudge     there is nothing to judge by                    → skipped
│   ├── CannotRun       it needs what is not here                       → not_run  (`pytest.skip` does the same)
│   └── Inconclusive    the machine is too busy to judge speed          → inconclusive
├── WorkerLost          the worker can answer no more                   → whatever it was lost for
└── CheckTimeout        the check's own code took too long              → broken

Two more endings are no classes of ours: what student code raised, which is raised again as its plain builtin type (see
`connection.raised`), and any other exception, which is a fault of the check: broken.

The last two of the drawing derive from BaseException, so that neither a `pytest.raises` nor an `except Exception` in a
check can swallow them.
"""

from __future__ import annotations

from grader.model.check import Verdict
from grader.model.picture import Picture


class CheckFailed(AssertionError):
    """A property does not hold.

    Attributes:
        public: the property, safe to tell of a hidden input.
        story: the same with numbers.
        about: the property, as one of `CAUSES`; "" where the check's category tells it.
        by_value: whether a value of the student's was compared with an expected one.
        picture: the facts of a picture, for readers of the story.
        from_text: whether it follows from the text of the submission alone, which may be shown in full.
    """

    def __init__(
        self,
        public: str,
        story: str = "",
        about: str = "",
        picture: Picture | None = None,
        *,
        from_text: bool = False,
    ) -> None:
        self.public = public
        self.from_text = from_text
        self.story = story or public
        self.about = about
        self.by_value = False
        self.picture = picture
        super().__init__(self.story)


class CannotJudge(Exception):
    """A check cannot be judged.

    Attributes:
        public: why, safe to tell of a hidden input; of a text with several lines the first.
        story: the same with numbers.
        at_load: whether it was known when the submission was loaded, and so before any hidden input.
        about: the property, as one of `CAUSES`; "" where the check's category tells it.
        picture: the facts of a picture, for whoever may read the story.
    """

    def __init__(
        self, public: str, story: str = "", *, at_load: bool = False, about: str = "", picture: Picture | None = None
    ) -> None:
        self.about = about
        self.picture = picture
        self.public = public if at_load or "\n" not in public else public.split("\n")[0]
        self.story = story or str(public)
        self.at_load = at_load
        super().__init__(self.story)


class NoSuchName(CannotJudge, AttributeError):
    """There is no such name in the student's module, so that `hasattr` is right about it."""


class _NoVerdict(Exception):
    """A check has no verdict about the student.

    Attributes:
        public: why, safe to tell of a hidden input.
        story: the same with numbers.
    """

    def __init__(self, public: str, story: str = "") -> None:
        self.public = public
        self.story = story or public
        super().__init__(self.story)


class CannotRun(_NoVerdict):
    """A check needs what is not here."""


class Inconclusive(_NoVerdict):
    """The machine is too busy to judge speed."""


class WorkerLost(BaseException):
    """A worker that can answer no more.

    Attributes:
        verdict: what the check gets.
        public: for the student, also of a hidden check.
        message: the same with what the worker said or did, such as its exit status.
        in_load: whether it was lost while it loaded the submission.
        stack: of one that timed out: what it says of where its code was then, as it arrived.
        frames: the same, once it was read: file, line, function and text, outermost first.
    """

    def __init__(self, verdict: Verdict, public: str, more: object = "") -> None:
        self.verdict = verdict
        self.public = public
        self.message = f"{public} ({more})" if str(more) else str(public)
        self.in_load = False
        self.stack: object = None
        self.frames: tuple[tuple[str, int, str, str], ...] = ()
        super().__init__(self.message)


class CheckTimeout(BaseException):
    """The check's own code took too long; calls into the worker are not counted."""
