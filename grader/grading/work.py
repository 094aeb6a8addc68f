"""What an engine is asked, and what it answers: frozen records, as bytes on their way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.model import Submission
from grader.sandbox.records import from_bytes, to_bytes


@dataclass(frozen=True)
class Work:
    """One exercise of one submission.

    Attributes:
        exercise: its id.
        submission: with the files of that exercise alone.
        before: the graded exercise as JSON, where what was inconclusive is to be repeated; else "".
    """

    exercise: str
    submission: Submission
    before: str = ""

    @classmethod
    def of(cls, exercise: str, submission: Submission, before: Mapping[str, Any] | None = None) -> Work:
        """The work of one exercise of a submission: nothing of the others travels with it."""
        own = {
            name: {exercise: part[exercise]} if exercise in (part := getattr(submission, name)) else {}
            for name in ("files", "paths", "problems", "notes", "cells", "errors", "places")
        }
        one = Submission(**{**vars(submission), **own})
        return cls(exercise, one, "" if before is None else json.dumps(before))

    def to_bytes(self) -> bytes:
        """As it travels."""
        return to_bytes(self)

    @classmethod
    def from_bytes(cls, sent: bytes) -> Work:
        """The work that was sent."""
        return from_bytes(cls, sent)


@dataclass(frozen=True)
class Answer:
    """What came of it.

    Attributes:
        told: the graded exercise, as `graded.to_told` makes it.
        level: of confinement that was reached, in a word.
        late: whether the lane's own deadline ended it, which other lanes may have brought about.
    """

    told: dict[str, Any]
    level: str
    late: bool = False

    def to_json(self) -> bytes:
        """As it travels."""
        return json.dumps(vars(self)).encode("ascii")

    @classmethod
    def from_json(cls, sent: bytes) -> Answer:
        """The answer that was sent."""
        return cls(**json.loads(sent))
