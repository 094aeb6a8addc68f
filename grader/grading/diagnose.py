"""A graded exercise with the sentence of the known wrong answer that it behaves like.

Only a submission that lost points is diagnosed, and each function by itself: the failing checks that call one function
are explained together, whatever becomes of the others. What explains them is a wrong answer that does in each of them
what the submission does, with several seeds of our own: the same verdicts, values, kinds, dtypes, errors and counts.
Wherever else it fails, the submission must fail in the same way. Wrong answers are sorted out by what their files say,
then by the check that must catch them, so that few are run in full, and each once for all students. The seeds are the
same for everybody, and so are the sentences.

What no wrong answer explains alone may be two mistakes at once in one function, each of which explains some of its
failing checks (`pairs`). What none explains keeps a digest of what it does with the first of the seeds, by which
`groups` finds those that behave alike. A copy without wrong answers has them sealed (`sealed`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from grader.course.answers import Answer, read_answer
from grader.grading.known import Known, traces_in
from grader.grading.named import named_by, names_in
from grader.grading.pairs import Parts, certain, pairs
from grader.grading.sealed import SEALED_SEEDS, Sealed, name_of, read_sealed, unsealed
from grader.grading.traces import COSTS, Traces, behaviour_of, failures_of, traces_of
from grader.model import Exercise, GradedExercise, Submission
from grader.model.causes import Told
from grader.model.errors import CourseError
from grader.model.messages import Setup
from grader.runner.lane import Lane

SEEDS = (0, 1, 2, 3)
"""Those with which answers are compared: two, and the others where more than one wrong answer is left. The first is
that of a student's own copy, which need not be run again then."""

MOST = 2
"""So many sentences are printed: of wrong answers that behave alike, more would be a guess."""

EITHER = " Or: "
"""Between the sentences of two mistakes that behave alike."""

BOTH = " And: "
"""Between the sentences of two mistakes that were made at once."""

MOST_ON_OTHERS = 0.2
"""Of an exercise's points, what may be lost on rules that a wrong answer keeps; `grade verify` allows it half."""

_WHAT = "Comparing with known mistakes"

_Ids = Collection[str]
"""Of checks."""


def diagnose(graded: GradedExercise, submission: Submission, setup: Setup, lane: Lane, known: Known) -> GradedExercise:
    """The exercise, with a sentence if it behaves like a known wrong answer, or like two: alike, or both at once.

    Without a sentence it gets its behaviour.

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
    task = _Task(graded, files, seed, lane, known, traces_of(graded.checks))
    watch = lane.watch
    # The titles of checks would look as if the exercise was graded again.
    lane.watch = lambda what, seconds: watch(_WHAT, seconds)
    try:
        if diagnosis := task.diagnosis():
            return replace(graded, diagnosis=diagnosis)
        return replace(graded, behaviour=behaviour_of(task.first()))
    finally:
        lane.watch = watch


def can_tell(graded: GradedExercise) -> bool:
    """Whether all checks ran, and one of them lost points in a way that can be compared."""
    return graded.state == "started" and not graded.left_out and bool(failures_of(graded.checks))


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
        """What is said of it; "" if nothing is."""
        groups = sorted(failures_of(self.graded.checks), key=self._place)
        if self.graded.exercise.wrong:
            return _joined(self._explained(groups))
        mistakes = self.graded.exercise.mistakes
        sealed = read_sealed(mistakes) if mistakes is not None else {}
        return _joined((EITHER, self._unsealed(sealed, group)) for group in groups) if sealed else ""

    def _explained(self, groups: Sequence[frozenset[str]]) -> Iterator[tuple[str, list[str]]]:
        """For each function the sentences that explain its failing checks, with what stands between them."""
        parts = self._parts(groups)
        done: set[Answer] = set()
        for group in groups:
            alone = [answer for answer, part in parts.items() if group <= part and self._keeps_to([answer], group)]
            # Who explains other functions as well is the likelier one.
            most = max((len(parts[answer]) for answer in alone), default=0)
            alone = [answer for answer in alone if len(parts[answer]) == most]
            both = [] if alone else self._two_at_once(parts, group)
            if not done.intersection(alone):
                yield (BOTH if both else EITHER), sentences_of(alone or both)
            done.update(alone)

    def _unsealed(self, mistakes: Sealed, group: _Ids) -> list[str]:
        """The sentences that what it does opens, in a copy that has them sealed."""
        id, first = self.graded.exercise.id, _only(self.first(), group)
        if (sealed := mistakes.get(name_of(id, first))) is None:
            return []
        further = (_only(self._run(seed), group) for seed in SEALED_SEEDS[1:])
        return unsealed(id, [first, *further], sealed, names_in(self.files))

    def _parts(self, groups: Collection[frozenset[str]]) -> Parts:
        """The wrong answers that do nothing wrong but what the submission does, and which failing checks are theirs."""
        answers = [
            answer for answer in told_answers(self.graded.exercise) if any(answer.caught_by in g for g in groups)
        ]
        answers = [answer for answer in answers if any(self._may_explain(answer, group, answers) for group in groups)]
        if not answers:
            return {}
        mine = self.first()
        # One check, and most differ in it.
        answers = [answer for answer in answers if self._part(answer, SEEDS[0], _only(mine, [answer.caught_by]))]
        # Of costs it is not asked which pass: to run all these checks for each wrong answer takes long.
        costs = {row.check.id for row in self.graded.checks if row.check.category == COSTS}
        passing = {id for id, trace in self.own.items() if not trace.lost} - costs
        parts = {answer: self._part(answer, SEEDS[0], mine, passing) for answer in answers}
        for number, seed in enumerate(SEEDS[1:]):
            parts = {answer: part for answer, part in parts.items() if part}
            # The last seeds are for answers that explain the same.
            if not parts or (number > 0 and len(set(parts.values())) == len(parts)):
                break
            mine = self._run(seed)
            parts = {answer: part & self._part(answer, seed, mine) for answer, part in parts.items()}
        exercise, names = self.graded.exercise, names_in(self.files)
        parts = {answer: part for answer, part in parts.items() if part}
        return {one: part for one, part in parts.items() if must_name(exercise, one, _only(mine, part)) <= names}

    def _part(self, answer: Answer, seed: int, mine: Traces, passing: _Ids = ()) -> frozenset[str]:
        """The failing checks in which a wrong answer does the same; none if it does anything else wrong."""
        theirs = self.known.traces(self.lane, answer, self.graded.exercise, seed, {*mine, *passing})
        same = frozenset(id for id, trace in mine.items() if theirs[id] == trace)
        return same if all(id in same or trace.passed for id, trace in theirs.items()) else frozenset()

    def _two_at_once(self, parts: Parts, group: frozenset[str]) -> list[Answer]:
        """Two wrong answers that do together what it does, that which explains what is told in full first.

        Where more than one pair does, what they have in common.
        """
        mine = {answer: part & group for answer, part in parts.items() if answer.caught_by in group}
        found = [pair for pair in pairs(mine, group) if self._keeps_to(pair, group)]
        return sorted(certain(found), key=lambda answer: self._place(mine[answer]))

    def _may_explain(self, answer: Answer, group: frozenset[str], answers: Collection[Answer]) -> bool:
        """Whether an answer may explain these checks by what its file says, alone or with another one."""
        if answer.caught_by not in group:
            return False
        others = (other for other in answers if other.caught_by in group and other is not answer)
        return self._keeps_to([answer], group) or any(self._keeps_to([answer, other], group) for other in others)

    def _keeps_to(self, answers: Collection[Answer], group: _Ids) -> bool:
        """Whether these checks lost little on rules that all of these wrong answers keep."""
        rows = {row.check.id: row for row in self.graded.checks}
        broken = {rule for answer in answers for rule in (rows[answer.caught_by].check.contract, *answer.breaks)}
        others = [rows[id].score for id in group if rows[id].check.contract not in broken]
        lost = sum(score.possible - score.earned for score in others)
        return lost <= MOST_ON_OTHERS * self.graded.exercise.points

    def _place(self, ids: _Ids) -> int:
        """The place of the first of these checks, in the order in which they are told."""
        told = Told.of(self.graded.checks)
        rows = [*filter(None, [told.cause]), *told.same, *told.lost]
        return next((place for place, row in enumerate(rows) if row.check.id in ids), len(rows))

    def first(self) -> Traces:
        """What it does in the checks that fail, with the first of the seeds."""
        return self._failing() if self.seed == SEEDS[0] else self._run(SEEDS[0])

    def _failing(self) -> Traces:
        return {id: trace for id, trace in self.own.items() if trace.lost}

    def _run(self, seed: int) -> Traces:
        """What becomes of the failing checks with another seed; those of costs are run with the first alone."""
        if seed not in self.ran:
            rows = [row.check for row in self.graded.checks if row.check.id in self._failing()]
            again = {check.id for check in rows if seed == SEEDS[0] or check.category != COSTS}
            same = _only(self.first(), {check.id for check in rows} - again) if len(again) < len(rows) else {}
            self.ran[seed] = {**same, **traces_in(self.lane, self.graded.exercise, self.files, seed, again)}
        return self.ran[seed]


def must_name(exercise: Exercise, answer: Answer, traces: Traces) -> frozenset[str]:
    """What must stand in code that does this, for the sentence of a wrong answer: nothing where a value shows it."""
    has_value = any(trace.lost and trace.has_value for trace in traces.values())
    return frozenset() if has_value else named_by(answer, exercise.reference)


def _only(traces: Traces, ids: Iterable[str]) -> Traces:
    return {id: traces[id] for id in ids}


def _joined(rows: Iterable[tuple[str, list[str]]]) -> str:
    """The sentences of each function, as long as there are not too many of them."""
    texts: list[str] = []
    left = MOST
    for word, sentences in rows:
        if sentences and len(sentences) <= left:
            texts.append(word.join(sentences))
            left -= len(sentences)
    return BOTH.join(texts)


def sentences_of(answers: Collection[Answer]) -> list[str]:
    """What wrong answers say, each sentence once and in one line."""
    return list(dict.fromkeys(" ".join(answer.sentence.split()) for answer in answers))


def told_answers(exercise: Exercise) -> Iterator[Answer]:
    """The wrong answers of an exercise that have a sentence."""
    for path in exercise.wrong:
        # One that cannot be read is its author's to fix, and `grade verify` says so; here the others still serve.
        with suppress(CourseError, OSError):
            if (answer := read_answer(exercise, path)).sentence:
                yield answer
