"""What is run for a copy: the reference and the known wrong answers, on the shown checks.

It says of what the copy does not have: what hidden checks decide, and what is counted of the reference. The sentences
of wrong answers are sealed with what the answers do in the shown checks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.course.answers import Answer, as_submitted, read_answer
from grader.course.layout import Places
from grader.grading.behaviour import COSTS, SEALED_SEEDS, Sealed, Traces, failures_of, name_of, seal, traces_of
from grader.grading.diagnosis import MOST, must_name, sentences_of, told_answers, traces_in
from grader.grading.lanes import Lanes
from grader.grading.plan import graded_from
from grader.model import Exercise, Outcome, Verdict, Withheld
from grader.model.errors import CourseError
from grader.model.messages import Part, Setup
from grader.model.score import divide


@dataclass(frozen=True)
class Facts:
    """Of one exercise.

    Attributes:
        withheld: its hidden checks.
        counters: what was counted while the reference ran, by shown check; a hidden one's could reveal its inputs.
    """

    withheld: Withheld
    counters: Mapping[str, Mapping[str, int]]


def facts_of(exercise: Exercise, lanes: Lanes, setup: Setup) -> Facts:
    """Run the reference on the shown checks.

    Raises:
        CourseError: the checks cannot be read, or the reference does not pass: students would meet the same.
        StartError: a process of ours did not start.
    """
    verify = f"grade verify {exercise.id} shows all"
    where = Places.of(exercise).shown.as_posix()
    if problem := lanes.collected().problems.get(exercise.id):
        raise CourseError(f"{where}: its checks cannot be read ({problem.strip().splitlines()[-1]}); fix it; {verify}")
    checks = lanes.checks_of(exercise)
    shown = [check for check in checks if check.shown]
    hidden = [check.share for check in checks if not check.shown]
    points = divide(exercise.points, [*(check.share for check in shown), sum(hidden)])[-1]
    withheld = Withheld(len(hidden), sum(hidden), points)
    passed = _outcomes(exercise, lanes, setup, Part(frozenset(check.id for check in shown), again=True))
    for outcome in passed:
        if outcome.verdict.decided and outcome.verdict is not Verdict.PASSED:
            raise CourseError(
                f"{Places.of(exercise).reference.as_posix()}: the reference does not pass check_{outcome.check} "
                f"({outcome.verdict}); fix one of the two; {verify}"
            )
    counters = {outcome.check: dict(outcome.counters) for outcome in passed if outcome.counters}
    return Facts(withheld, counters)


def _outcomes(exercise: Exercise, lanes: Lanes, setup: Setup, part: Part) -> Sequence[Outcome]:
    """What becomes of the reference in these checks."""
    if exercise.reference is None or not part.only:
        return ()
    source = read_answer(exercise, exercise.reference).source
    return lanes.run(exercise, as_submitted(exercise, source), setup.seed_of(""), part).outcomes


_Behaviour = tuple[Traces, ...]


def mistakes_of(exercise: Exercise, lanes: Lanes) -> tuple[Sealed, list[str]]:
    """The mistakes of an exercise that shown checks recognize, sealed, and the sentences in them.

    A mistake is sealed by what it does in the shown checks of the functions that it breaks, if the check that must
    catch it is one of them. The sentence of another one that does the same there is sealed with it;
    of more than two alike, none is.

    Raises:
        StartError: a process of ours did not start.
    """
    alike: dict[str, tuple[_Behaviour, list[Answer]]] = {}
    for answer in told_answers(exercise):
        for behaviour in _behaviours(exercise, lanes, answer):
            alike.setdefault(name_of(exercise.id, behaviour), (behaviour, []))[1].append(answer)
    sealed: dict[str, str] = {}
    texts: list[str] = []
    for name, (behaviour, answers) in alike.items():
        sentences = sentences_of(answers)
        if len(sentences) <= MOST and any(answer.caught_by in behaviour[0] for answer in answers):
            texts += sentences
            needed: dict[str, frozenset[str]] = {}
            for answer in answers:
                (sentence,), names = sentences_of([answer]), must_name(exercise, answer, behaviour[0])
                needed[sentence] = needed.get(sentence, names) & names
            sealed[name] = seal(exercise.id, behaviour, needed)
    return sealed, texts


def _behaviours(exercise: Exercise, lanes: Lanes, answer: Answer) -> list[_Behaviour]:
    """What an answer does in the shown checks that fail, by function, with each of the seeds."""
    shown = {check.id: check for check in lanes.checks_of(exercise) if check.shown}
    files: Mapping[str, bytes] = as_submitted(exercise, answer.source)
    outcomes = lanes.run(
        exercise, files, SEALED_SEEDS[0], Part(frozenset(shown), again=True, with_tries=False)
    ).outcomes
    rows = graded_from(exercise, list(shown.values()), outcomes).checks
    first = traces_of(rows)
    failing = {id: trace for id, trace in first.items() if trace.lost}
    again = {id for id in failing if shown[id].category != COSTS}

    def run_again(seed: int) -> Traces:
        return lanes.ask(lambda lane: traces_in(lane, exercise, files, seed, again)).result()

    # What reads uninitialized memory does another thing each time, and the copy is to be the same each time.
    once_more, *further = map(run_again, SEALED_SEEDS)
    groups = [
        group for group in failures_of(rows) if all(failing[id] == once_more.get(id, failing[id]) for id in group)
    ]
    seen = [{**failing, **traces} for traces in ({}, *further)]
    return [tuple({id: traces[id] for id in group} for traces in seen) for group in groups]
