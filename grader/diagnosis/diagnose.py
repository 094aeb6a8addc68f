"""A graded exercise with the sentence of the known wrong answer that it behaves like.

Only a submission that lost points is looked at. It is run again with a few seeds of our own, its failing checks alone,
and must do with each what a wrong answer does: the same verdicts, and the same values in what staff read of them; where
it passes, the wrong answer must pass. Wrong answers are sorted out by what their files say, then by the check that must
catch them, so that few are run in full, and each once for all students. The seeds are the same for everybody, and so
are the sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from grader.course.answers import Answer, read_answer
from grader.diagnosis.known import Known
from grader.diagnosis.traces import Trace, Traces, compared, has_evidence
from grader.jobs import Part, Setup
from grader.lanes.lane import Lane
from grader.model import Exercise, GradedExercise, Submission, Verdict
from grader.model.errors import CourseError

SEEDS = (0, 1, 2, 3)
"""Those with which answers are compared: two, and the others where more than one wrong answer is left. The first is
that of a student's own copy, which need not be run again then."""

MOST = 2
"""So many sentences may be told, where wrong answers behave alike; more would be a guess."""

MOST_ON_OTHERS = 0.2
"""Of an exercise's points, what may be lost on rules that a wrong answer keeps; `grade verify` allows it half."""

_WEAK = ("load", "name", "signature")
"""Causes before which nothing of the submission's behaviour was seen."""

_WHAT = "Comparing with known mistakes"


def diagnose(graded: GradedExercise, submission: Submission, setup: Setup, lane: Lane, known: Known) -> GradedExercise:
    """The exercise, with a sentence if it behaves like a known wrong answer, or like two that behave alike.

    Args:
        graded: the exercise, as it ends.
        submission: whose it is.
        setup: of the run.
        lane: in which it was graded.
        known: how wrong answers behave.

    Raises:
        StartError: a process of ours cannot be had.
        ConfinementError: student code cannot be confined as well as is asked for.
    """
    if not graded.exercise.wrong or not _can_tell(graded):
        return graded
    task = _Task(graded, submission.files[graded.exercise.id], setup.seed_of(submission.author), lane, known)
    watch = lane.watch
    # The titles of checks would look as if the exercise was graded again.
    lane.watch = lambda what, seconds: watch(_WHAT, seconds)
    try:
        sentences = list(dict.fromkeys(" ".join(answer.sentence.split()) for answer in task.alike()))
    finally:
        lane.watch = watch
    return replace(graded, diagnosis=" Or: ".join(sentences)) if 0 < len(sentences) <= MOST else graded


def explainer(
    submission: Submission, setup: Setup, lane: Lane | None, known: Known
) -> Callable[[GradedExercise], GradedExercise]:
    """What `diagnose` makes of the exercises of a submission; without a lane they stay as they are."""
    if lane is None:
        return lambda graded: graded
    return partial(diagnose, submission=submission, setup=setup, lane=lane, known=known)


def _can_tell(graded: GradedExercise) -> bool:
    """Whether all that is compared was seen, and shows a value that is not the one asked."""
    if graded.state != "started" or graded.left_out:
        return False
    wanted = compared(row.check for row in graded.checks)
    outcomes = [row.outcome for row in graded.checks if row.check.id in wanted]
    for outcome in outcomes:
        trace = Trace.of(outcome)
        seen = trace.lost or outcome.verdict in (Verdict.PASSED, Verdict.NOT_RUN)
        # Skipped for what was raised: it is not written yet.
        stub = outcome.verdict is Verdict.SKIPPED and outcome.cause == "raised"
        if not seen or stub or outcome.cause in _WEAK:
            return False
    return has_evidence({outcome.check: Trace.of(outcome) for outcome in outcomes})


@dataclass(frozen=True)
class _Task:
    """One exercise of one submission, and how wrong answers behave."""

    graded: GradedExercise
    files: Mapping[str, bytes]
    seed: int
    lane: Lane
    known: Known

    def alike(self) -> list[Answer]:
        """The wrong answers that it behaves like."""
        own = self._own()
        failing = {id for id, trace in own.items() if trace.lost}
        answers = [answer for answer in _wrong_answers(self.graded.exercise) if self._may_be(answer, failing)]
        if not answers:
            return []
        mine = {id: own[id] for id in failing} if self.seed == SEEDS[0] else self._run(SEEDS[0], failing)
        if not has_evidence(mine):
            return []
        passing = own.keys() - failing
        answers = [answer for answer in answers if self._does_first(answer, mine)]
        answers = [answer for answer in answers if self._does(answer, SEEDS[0], mine, passing)]
        for number, seed in enumerate(SEEDS[1:]):
            if not answers or (number > 0 and len(answers) == 1):
                break
            mine = self._run(seed, failing)
            answers = [answer for answer in answers if self._does(answer, seed, mine)]
        return answers

    def _own(self) -> dict[str, Trace]:
        """What became of the checks that ran, in the run that counts."""
        wanted = compared(row.check for row in self.graded.checks)
        ran = [row.outcome for row in self.graded.checks if row.check.id in wanted]
        return {outcome.check: Trace.of(outcome) for outcome in ran if outcome.verdict is not Verdict.NOT_RUN}

    def _may_be(self, answer: Answer, failing: Collection[str]) -> bool:
        """Whether the check that must catch a wrong answer failed, and little was lost on rules that it keeps."""
        rows = {row.check.id: row for row in self.graded.checks}
        if answer.caught_by not in failing:
            return False
        broken = {rows[answer.caught_by].check.contract, *answer.breaks}
        others = [rows[id].score for id in failing if rows[id].check.contract not in broken]
        lost = sum(score.possible - score.earned for score in others)
        return lost <= MOST_ON_OTHERS * self.graded.exercise.points

    def _run(self, seed: int, checks: set[str]) -> dict[str, Trace]:
        """What becomes of some checks with another seed."""
        run = self.lane.run(self.graded.exercise, self.files, seed, None, Part(frozenset(checks), told=False))
        return {outcome.check: Trace.of(outcome) for outcome in run.outcomes}

    def _does_first(self, answer: Answer, mine: Traces) -> bool:
        """Whether a wrong answer does the same in the check that must catch it: one check, and most differ in it."""
        return self._does(answer, SEEDS[0], {answer.caught_by: mine[answer.caught_by]})

    def _does(self, answer: Answer, seed: int, mine: Traces, passing: Collection[str] = ()) -> bool:
        """Whether a wrong answer does the same in the checks that fail, and passes these."""
        theirs = self.known.traces(self.lane, answer, self.graded.exercise, seed, {*mine, *passing})
        passes = all(theirs[id].verdict is Verdict.PASSED for id in passing)
        return passes and all(theirs[id] == trace for id, trace in mine.items())


def _wrong_answers(exercise: Exercise) -> Iterator[Answer]:
    for path in exercise.wrong:
        # One that cannot be read is its author's to mend, whom `grade verify` tells; here the others still serve.
        with suppress(CourseError, OSError):
            if (answer := read_answer(exercise, path)).sentence:
                yield answer
