"""A graded exercise with the sentence of the known wrong answer that it behaves like.

Only a submission that lost points is looked at. It is run again with a few seeds of our own, its failing checks alone,
and must do with each what a wrong answer does: the same verdicts, and the same values in what staff read of them; where
it passes, the wrong answer must pass. Wrong answers are sorted out by what their files say, then by the check that must
catch them, so that few are run in full, and each once for all students. The seeds are the same for everybody, and so
are the sentences. What behaves like no wrong answer may behave like two of them at once, each of which explains some of
the failing checks; else it keeps a digest of what it does with the first of them, by which `groups` finds those that
behave alike.

A copy without wrong answers has them sealed (`sealed`), and there the shown checks are compared alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations

from grader.course.answers import Answer, read_answer
from grader.diagnosis.known import Known
from grader.diagnosis.pairs import Parts, certain, pairs
from grader.diagnosis.sealed import SEALED_SEEDS, name_of, read_sealed, unsealed
from grader.diagnosis.traces import Trace, Traces, behaviour_of, compared, has_evidence
from grader.jobs import Part, Setup
from grader.lanes.lane import Lane
from grader.model import Exercise, GradedExercise, Outcome, Submission, Verdict
from grader.model.errors import CourseError
from grader.report.causes import Told

SEEDS = (0, 1, 2, 3)
"""Those with which answers are compared: two, and the others where more than one wrong answer is left. The first is
that of a student's own copy, which need not be run again then."""

MOST = 2
"""So many sentences may be told, where wrong answers behave alike; more would be a guess."""

BOTH = " And: "
"""Between the sentences of two mistakes that were made at once."""

MOST_ON_OTHERS = 0.2
"""Of an exercise's points, what may be lost on rules that a wrong answer keeps; `grade verify` allows it half."""

_WEAK = ("load", "name", "signature")
"""Causes before which nothing of the submission's behaviour was seen."""

_WHAT = "Comparing with known mistakes"


def diagnose(graded: GradedExercise, submission: Submission, setup: Setup, lane: Lane, known: Known) -> GradedExercise:
    """The exercise, with a sentence if it behaves like a known wrong answer, or like two: alike, or both at once.

    Without a sentence it gets its behaviour, where a value shows that.

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
    if not can_tell(graded):
        return graded
    files, seed = submission.files[graded.exercise.id], setup.seed_of(submission.author)
    task = _Task(graded, files, seed, lane, known, _own(graded))
    watch = lane.watch
    # The titles of checks would look as if the exercise was graded again.
    lane.watch = lambda what, seconds: watch(_WHAT, seconds)
    try:
        if diagnosis := task.diagnosis():
            return replace(graded, diagnosis=diagnosis)
        return replace(graded, behaviour=behaviour_of(task.first()))
    finally:
        lane.watch = watch


def explainer(
    submission: Submission, setup: Setup, lane: Lane | None, known: Known
) -> Callable[[GradedExercise], GradedExercise]:
    """What `diagnose` makes of the exercises of a submission; without a lane they stay as they are."""
    if lane is None:
        return lambda graded: graded
    return partial(diagnose, submission=submission, setup=setup, lane=lane, known=known)


def can_tell(graded: GradedExercise) -> bool:
    """Whether all that is compared was seen, and shows a value that is not the one asked."""
    if graded.state != "started" or graded.left_out:
        return False
    wanted = compared(row.check for row in graded.checks)
    return all_seen([row.outcome for row in graded.checks if row.check.id in wanted])


def all_seen(outcomes: Collection[Outcome]) -> bool:
    """The same of what became of the checks that are compared."""
    for outcome in outcomes:
        trace = Trace.of(outcome)
        seen = trace.lost or outcome.verdict in (Verdict.PASSED, Verdict.NOT_RUN)
        # Skipped for what was raised: it is not written yet.
        stub = outcome.verdict is Verdict.SKIPPED and outcome.cause == "raised"
        if not seen or stub or outcome.cause in _WEAK:
            return False
    return has_evidence({outcome.check: Trace.of(outcome) for outcome in outcomes})


def _own(graded: GradedExercise) -> Traces:
    """What became of the checks that ran, in the run that counts."""
    wanted = compared(row.check for row in graded.checks)
    ran = [row.outcome for row in graded.checks if row.check.id in wanted]
    return {outcome.check: Trace.of(outcome) for outcome in ran if outcome.verdict is not Verdict.NOT_RUN}


@dataclass(frozen=True)
class _Task:
    """One exercise of one submission, and how wrong answers behave."""

    graded: GradedExercise
    files: Mapping[str, bytes]
    seed: int
    lane: Lane
    known: Known
    own: Traces
    ran: dict[int, Traces] = field(default_factory=dict)

    def diagnosis(self) -> str:
        """What is told of it; "" if nothing is."""
        if not self.graded.exercise.wrong:
            return " Or: ".join(self._unsealed())
        if answers := self._alike():
            sentences = sentences_of(answers)
            return " Or: ".join(sentences) if len(sentences) <= MOST else ""
        return BOTH.join(sentences_of(self._two_at_once()))

    def _unsealed(self) -> list[str]:
        """The sentences that what it does opens, in a copy that has them sealed."""
        exercise = self.graded.exercise
        mistakes = read_sealed(exercise.mistakes) if exercise.mistakes is not None else {}
        passing = {id: trace for id, trace in self.own.items() if not trace.lost}
        if not mistakes or not has_evidence(mine := self.first()):
            return []
        first = {**passing, **mine}
        sealed = mistakes.get(name_of(exercise.id, first), ())
        return unsealed(exercise.id, [first, *map(self._run, SEALED_SEEDS[1:])], sealed) if sealed else []

    def _two_at_once(self) -> list[Answer]:
        """Two wrong answers that do together what it does, that which explains what is told in full first.

        Where more than one pair does, what they have in common; of a pair only that which a value shows.
        """
        failing = self._failing()
        answers = [answer for answer in told_answers(self.graded.exercise) if answer.caught_by in failing]
        # What their files say sorts most of them out, before anything is run.
        answers = list(dict.fromkeys(answer for pair in self._likely(combinations(answers, 2)) for answer in pair))
        if len(failing) < MOST or not answers or not has_evidence(mine := self.first()):
            return []
        answers = [answer for answer in answers if self._does_first(answer, mine)]
        passing = self.own.keys() - failing
        parts = {answer: self._part(answer, SEEDS[0], mine, passing) for answer in answers}
        found = self._likely(pairs(parts, mine))
        for number, seed in enumerate(SEEDS[1:]):
            if not found or (number > 0 and len(found) == 1):
                break
            mine = self._run(seed)
            left = dict.fromkeys(answer for pair in found for answer in pair)
            parts = {answer: parts[answer] & self._part(answer, seed, mine) for answer in left}
            found = self._likely(pairs(parts, mine))
        return sorted(certain(found, parts, mine), key=lambda answer: self._place(parts, answer))

    def _part(self, answer: Answer, seed: int, mine: Traces, passing: Collection[str] = ()) -> frozenset[str]:
        """The failing checks in which a wrong answer does the same; none if it fails where these pass."""
        theirs = self.known.traces(self.lane, answer, self.graded.exercise, seed, {*mine, *passing})
        if not all(theirs[id].verdict is Verdict.PASSED for id in passing):
            return frozenset()
        return frozenset(id for id, trace in mine.items() if theirs[id] == trace)

    def _likely(self, found: Iterable[tuple[Answer, Answer]]) -> list[tuple[Answer, Answer]]:
        """The pairs of which little was lost on rules that both keep."""
        return [pair for pair in found if self._lost_on_others(pair) <= MOST_ON_OTHERS * self.graded.exercise.points]

    def _place(self, parts: Parts, answer: Answer) -> int:
        """The place of the first check that an answer explains, in the order in which they are told."""
        told = Told.of(self.graded.checks)
        rows = [*filter(None, [told.cause]), *told.same, *told.lost]
        return next((place for place, row in enumerate(rows) if row.check.id in parts[answer]), len(rows))

    def _alike(self) -> list[Answer]:
        """The wrong answers that it behaves like."""
        failing = self._failing()
        answers = [answer for answer in told_answers(self.graded.exercise) if self._may_be(answer, failing)]
        if not answers:
            return []
        mine = self.first()
        if not has_evidence(mine):
            return []
        passing = self.own.keys() - failing
        answers = [answer for answer in answers if self._does_first(answer, mine)]
        answers = [answer for answer in answers if self._does(answer, SEEDS[0], mine, passing)]
        for number, seed in enumerate(SEEDS[1:]):
            if not answers or (number > 0 and len(answers) == 1):
                break
            mine = self._run(seed)
            answers = [answer for answer in answers if self._does(answer, seed, mine)]
        return answers

    def first(self) -> Traces:
        """What it does in the checks that fail, with the first of the seeds."""
        return {id: self.own[id] for id in self._failing()} if self.seed == SEEDS[0] else self._run(SEEDS[0])

    def _failing(self) -> set[str]:
        return {id for id, trace in self.own.items() if trace.lost}

    def _may_be(self, answer: Answer, failing: Collection[str]) -> bool:
        """Whether the check that must catch a wrong answer failed, and little was lost on rules that it keeps."""
        if answer.caught_by not in failing:
            return False
        return self._lost_on_others([answer]) <= MOST_ON_OTHERS * self.graded.exercise.points

    def _lost_on_others(self, answers: Collection[Answer]) -> int:
        """Hundredths of a point that were lost on rules that all of these wrong answers keep."""
        rows = {row.check.id: row for row in self.graded.checks}
        broken = {rule for answer in answers for rule in (rows[answer.caught_by].check.contract, *answer.breaks)}
        others = [rows[id].score for id in self._failing() if rows[id].check.contract not in broken]
        return sum(score.possible - score.earned for score in others)

    def _run(self, seed: int) -> Traces:
        """What becomes of the failing checks with another seed; each is run once."""
        if seed not in self.ran:
            part = Part(frozenset(self._failing()), told=False)
            run = self.lane.run(self.graded.exercise, self.files, seed, part=part)
            self.ran[seed] = {outcome.check: Trace.of(outcome) for outcome in run.outcomes}
        return self.ran[seed]

    def _does_first(self, answer: Answer, mine: Traces) -> bool:
        """Whether a wrong answer does the same in the check that must catch it: one check, and most differ in it."""
        return self._does(answer, SEEDS[0], {answer.caught_by: mine[answer.caught_by]})

    def _does(self, answer: Answer, seed: int, mine: Traces, passing: Collection[str] = ()) -> bool:
        """Whether a wrong answer does the same in the checks that fail, and passes these."""
        theirs = self.known.traces(self.lane, answer, self.graded.exercise, seed, {*mine, *passing})
        passes = all(theirs[id].verdict is Verdict.PASSED for id in passing)
        return passes and all(theirs[id] == trace for id, trace in mine.items())


def sentences_of(answers: Collection[Answer]) -> list[str]:
    """What wrong answers say, each sentence once and in one line."""
    return list(dict.fromkeys(" ".join(answer.sentence.split()) for answer in answers))


def told_answers(exercise: Exercise) -> Iterator[Answer]:
    """The wrong answers of an exercise that have a sentence."""
    for path in exercise.wrong:
        # One that cannot be read is its author's to mend, whom `grade verify` tells; here the others still serve.
        with suppress(CourseError, OSError):
            if (answer := read_answer(exercise, path)).sentence:
                yield answer
