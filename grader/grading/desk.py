"""Grades what comes, in a lane: what an engine does with each piece of work, wherever it is."""

from __future__ import annotations

import json
from dataclasses import replace

from grader.grading.diagnose import explainer
from grader.grading.grade import Sheet, grade_submission
from grader.grading.graded import from_told, to_told
from grader.grading.known import Known
from grader.grading.work import Answer, Work
from grader.runner.lane import Lane


class Desk:
    """What is the same for all work of a run.

    Args:
        sheet: what is graded, and how.
        known: how wrong answers behave.
    """

    def __init__(self, sheet: Sheet, known: Known) -> None:
        self._sheet = sheet
        self._known = known
        self._exercises = {exercise.id: exercise for exercise in sheet.exercises}

    def grade(self, lane: Lane, sent: bytes) -> bytes:
        """Grade one exercise of one submission.

        Raises:
            StartError: a process of ours cannot be had.
            ConfinementError: student code cannot be confined as well as is asked for.
        """
        work = Work.from_bytes(sent)
        exercise = self._exercises[work.exercise]
        before = [from_told(exercise, json.loads(work.before))] if work.before else None
        explain = explainer(work.submission, self._sheet.setup, lane, self._known)
        lane.was_late = False
        sheet = replace(self._sheet, exercises=[exercise])
        (graded,) = grade_submission(sheet, work.submission, lane, earlier=before, explain=explain).exercises
        self._known.write()
        return Answer(to_told(graded), lane.reached.level.word, lane.was_late).to_json()
