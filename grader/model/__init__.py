"""The nouns: frozen data without I/O, shared by the host and the check process. Standard library only.

course    a course and what is in it
check     one check: its declaration, its outcome, what was measured
report    a submission, and what grading makes of it
score     outcomes → points; the checks of an exercise by what ended them
endings   how a check can end, as exceptions
public_text  texts of a hidden check that a student may read
unparsed  a file that Python cannot parse
picture   the facts of a picture
errors    faults of ours and of the course, as exceptions
progress  what a run reports while it goes on, and the token that cancels it
messages  messages between our own processes
files     records as JSON and back; files that are written whole or not at all
"""

from grader.model.check import BROKEN_MESSAGE, CATEGORIES, CAUSES, WITHHELD, Check, DeviceKind, Outcome, Speed, Verdict
from grader.model.course import (
    Broken,
    Course,
    Exercise,
    HandIn,
    Install,
    Limits,
    Module,
    Policy,
    RubricLine,
    Withheld,
)
from grader.model.picture import Picture
from grader.model.report import (
    Environment,
    FinalScore,
    GradedCheck,
    GradedExercise,
    LineComment,
    Mistake,
    Place,
    Report,
    Score,
    Submission,
)

__all__ = [
    "BROKEN_MESSAGE",
    "CATEGORIES",
    "CAUSES",
    "WITHHELD",
    "Broken",
    "Check",
    "Course",
    "DeviceKind",
    "Environment",
]
__all__ += [
    "Exercise",
    "FinalScore",
    "GradedCheck",
    "GradedExercise",
    "HandIn",
    "Install",
    "Limits",
    "LineComment",
    "Mistake",
    "Module",
    "Outcome",
]
__all__ += ["Picture", "Place", "Policy", "Report", "RubricLine", "Score", "Speed", "Submission", "Verdict", "Withheld"]
