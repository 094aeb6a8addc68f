"""The nouns: frozen data without I/O, shared by the host and the check process. Standard library only."""

from grader.model.check import BROKEN_MESSAGE, CATEGORIES, Check, Device, Outcome, Speed, Verdict
from grader.model.course import Course, Exercise, HandIn, Limits, Module, Withheld
from grader.model.report import Environment, GradedCheck, GradedExercise, Report, Score, Submission

__all__ = [
    "BROKEN_MESSAGE",
    "CATEGORIES",
    "Check",
    "Course",
    "Device",
    "Environment",
    "Exercise",
    "GradedCheck",
    "GradedExercise",
    "HandIn",
    "Limits",
    "Module",
    "Outcome",
    "Report",
    "Score",
    "Speed",
    "Submission",
    "Verdict",
    "Withheld",
]
