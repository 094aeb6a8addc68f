"""Errors of the grader or of the course. A student's fault is never one of them: it is an Outcome.

GraderError                 something stopped the grader; exit status 3 unless a subclass says otherwise
├── CourseError             the course or the command is wrong; lists every problem found; exit status 2
│   └── FormatError         data are not of the type that they should have; lists every problem with its place
├── SubmissionError         a submission cannot be read at all; exit status 2
├── ConfinementError        workers cannot be confined as well as required; exit status 2
└── StartError              a process of ours did not start, or cannot do its work on this machine; exit status 3
    └── DeviceError         the device that the command names is not on this machine; exit status 2
"""

from __future__ import annotations

from collections.abc import Sequence


class GraderError(Exception):
    """Something that stopped the grader, with a sentence that says what, where, and what to do."""

    exit_status = 3


class CourseError(GraderError):
    """The course or the command is wrong.

    Attributes:
        problems: every problem found, each one a sentence with file and key.
    """

    exit_status = 2

    def __init__(self, *problems: str) -> None:
        self.problems: Sequence[str] = problems
        super().__init__("\n".join(problems))


class FormatError(CourseError):
    """Data are not of the type that they should have."""


class SubmissionError(GraderError):
    """A submission cannot be read at all."""

    exit_status = 2


class StartError(GraderError):
    """A process of ours did not start, or cannot do its work on this machine."""


class DeviceError(StartError):
    """The device that the command names is not on this machine."""

    exit_status = 2


class ConfinementError(GraderError):
    """Workers cannot be confined as well as required."""

    exit_status = 2

    def __init__(self, level: str, least: str, missing: Sequence[str]) -> None:
        first = f"this machine can confine student code at level {level} only, but {least} is required"
        last = (
            "grade doctor shows what is missing; --confinement LEVEL accepts less, at your own risk;\n"
            "the container image of docs/security.md reaches the level full"
        )
        super().__init__("\n".join([first, *missing, last]))
