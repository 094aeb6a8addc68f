"""How a check can end, besides passing, as exceptions.

`check_process.verdict` makes the verdict.

BaseException
├── Exception
│   ├── CheckFailed     a property does not hold                        → failed   (an AssertionError)
│   ├── NotUsable       the submission does not load, or lacks a name   → error
│   ├── CannotJudge     a check that it requires did not pass           → skipped
│   ├── CannotRun       it needs what is not here                       → not_run  (`pytest.skip` does the same)
│   └── Inconclusive    the machine is too busy to judge speed          → inconclusive
├── WorkerLost          the worker can answer no more                   → the reason of the loss
└── CheckTimeout        the check's own code took too long              → broken

Two more have no class of ours: an exception of student code, which is raised again as its plain builtin type (see
`connection.raised`), and any other exception, which is a fault of the check: broken.

The last two classes derive from BaseException, so that neither a `pytest.raises` nor an `except Exception` in a check
can swallow them.
"""

from __future__ import annotations

from grader.model.check import Verdict
from grader.model.picture import Picture


class CheckFailed(AssertionError):
    """A property does not hold.

    Attributes:
        public: the property, in words that reveal no hidden input.
        story: the same with numbers.
        about: the property, as one of `CAUSES`; "" for that of the check's category.
        by_value: True if a value of the student's was compared with an expected one.
        picture: the facts of a picture, for readers of the story.
        from_text: True if it follows from the text of the submission alone, which may be shown in full.
    """

    def __init__(
        self, public: str, story: str = "", about: str = "", picture: Picture | None = None, *, from_text: bool = False
    ) -> None:
        self.public = public
        self.from_text = from_text
        self.story = story or public
        # Of a text no value is wrong: lines to try in plain Python would show nothing.
        self.about = about or ("performance" if from_text else "")
        self.by_value = False
        self.picture = picture
        super().__init__(self.story)


class _NotJudged(Exception):
    """A check ends before it can pass or fail.

    Attributes:
        public: the reason, in words that reveal no hidden input.
        story: the same with numbers.
        about: the property, as one of `CAUSES`; "" for that of the check's category.
    """

    def __init__(self, public: str, story: str = "", *, about: str = "") -> None:
        self.public = public
        self.story = story or str(public)
        self.about = about
        super().__init__(self.story)


class NotUsable(_NotJudged):
    """The submission does not load, or lacks a function.

    Attributes:
        at_load: True if that was known before any hidden input was, so that a hidden check may show the whole story.
    """

    def __init__(self, public: str, story: str = "", *, about: str = "load", at_load: bool = True) -> None:
        super().__init__(public, story, about=about)
        self.at_load = at_load


class NoSuchName(NotUsable, AttributeError):
    """The student's module has no such name. As an AttributeError it makes `hasattr` false."""


class CannotJudge(_NotJudged):
    """A check cannot be judged, because one that it requires did not pass."""


class CannotRun(_NotJudged):
    """A check needs hardware or files that are not available."""


class Inconclusive(_NotJudged):
    """The machine is too busy to judge speed."""


class WorkerLost(BaseException):
    """A worker that can answer no more.

    Attributes:
        verdict: the verdict that the check gets.
        public: the text for the student, also of a hidden check.
        message: the same with details from the worker, such as its exit status.
        in_load: True if it was lost while it loaded the submission.
        stack: after a timeout: where the worker says its code was, as it arrived.
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
