"""A draft of a known wrong answer, made of a group of submissions that no known mistake explains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.batch.class_summary import results_of_group
from grader.batch.journal import Journal
from grader.course.files import suggestion
from grader.course.layout import Places, refuse_student_folder
from grader.grading.unexplained import SimilarSubmissions, draft_text
from grader.model import Course
from grader.model.errors import CourseError
from grader.model.files import write_named

STEPS = (
    "write its sentence in place of TODO, and name the file after the mistake",
    "remove names of people that are left",
    "run  grade verify {exercise}  to prove that the checks catch it",
    "run the batch again: reports of answers that behave like it then say so",
)
"""What to do with the draft of a wrong answer."""


def find_group(groups: Sequence[SimilarSubmissions], name: str) -> SimilarSubmissions:
    """Return the group of similar submissions whose name begins with `name`.

    The name is the beginning of a digest, such as "3f9a", as `grade report --draft` takes it.

    Raises:
        CourseError: no group has this name, or more than one has; it suggests the nearest.
    """
    matching = [group for group in groups if name and group.name.startswith(name.lower())]
    if len(matching) > 1:
        raise CourseError(f"--draft: {name} may be {' or '.join(group.name for group in matching)}")
    if not matching:
        near = suggestion(name.lower(), [group.name for group in groups])
        raise CourseError(f"--draft: there is no group {name!r}{near}")
    return matching[0]


def draft_path(course: Course, group: SimilarSubmissions) -> Path:
    """Return the path in the course for a wrong answer that is drafted from a group.

    For the group "3f9a" the file is `group_3f9a.py`, in the exercise's folder of wrong answers.

    Raises:
        CourseError: the course is a student's folder, or a file is there already.
    """
    refuse_student_folder(course.root, "report --draft")
    path = course.root / Places.of(group.exercise).wrong / f"group_{group.name}.py"
    if path.exists():
        raise CourseError(f"{path} exists already; write its sentence, or remove it")
    return path


def draft_source(journal: Journal, group: SimilarSubmissions) -> str:
    """Return the source of a wrong answer, drafted from the shortest usable file of a group.

    Args:
        journal: the open journal, which has the files.
        group: the group of similar submissions.

    Raises:
        CourseError: no draft can be made of any file of the group.
    """
    people, members = journal.names(), {record.author: record.members for record in journal.submissions()}
    why = group.why_not or "the journal has none of its files; run the batch once more with --rerun all"
    for saved in [] if group.why_not else results_of_group(journal, group):
        if saved.text is not None:
            names = (saved.author, *members[saved.author], people.get(saved.author, saved.author))
            try:
                graded = saved.outcomes.graded(group.exercise)
                return draft_text(graded, saved.text, names, group.function)
            except ValueError as error:
                why = str(error)
    raise CourseError(f"no wrong answer can be made of group {group.name}: {why}")


def write_draft(course: Course, group: SimilarSubmissions, text: str) -> Path:
    """Write a draft into the course's folder of wrong answers; return its path.

    Args:
        course: the course.
        group: the group of answers that it is made of.
        text: the text of the draft.

    Raises:
        CourseError: a file is there already, or it cannot be written.
    """
    path = draft_path(course, group)
    write_named(path, text, "--draft")
    return path
