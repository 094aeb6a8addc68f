"""What a copy has of known wrong answers: their sentences, sealed with what they do in the shown checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from grader.course.answers import Answer, as_submitted
from grader.diagnosis.diagnose import MOST, all_seen, sentences_of, told_answers
from grader.diagnosis.sealed import SEALED_SEEDS, Sealed, name_of, seal
from grader.diagnosis.traces import Trace, Traces, compared
from grader.jobs import Part
from grader.lanes.lane import Lane
from grader.model import Exercise, Outcome

_Behaviour = tuple[Traces, ...]


def mistakes_of(exercise: Exercise, lane: Lane) -> tuple[Sealed, list[str]]:
    """The mistakes of an exercise that shown checks tell, sealed, and the sentences in them.

    A mistake is told where the check that must catch it is shown. Another one that does the same there is told with it;
    of more than two alike, none is.

    Raises:
        StartError: a process of ours did not start.
    """
    shown = frozenset(compared(check for check in lane.checks_of(exercise) if check.shown))
    if not shown:
        return {}, []
    # By what they do with the first seed, as a student's own run does; most are told apart by that.
    alike: dict[str, list[tuple[Answer, Traces]]] = {}
    for answer in told_answers(exercise):
        if first := _first(exercise, lane, answer, shown):
            alike.setdefault(name_of(exercise.id, first), []).append((answer, first))
    sealed: dict[str, list[str]] = {}
    told: list[str] = []
    for name, group in alike.items():
        if not any(_loses(first, answer) for answer, first in group):
            continue
        for behaviour, answers in _apart(exercise, lane, group):
            sentences = sentences_of(answers)
            if len(sentences) <= MOST and any(_loses(behaviour[0], answer) for answer in answers):
                told += sentences
                sealed.setdefault(name, []).append(seal(exercise.id, behaviour, sentences))
    return sealed, told


def _loses(traces: Traces, answer: Answer) -> bool:
    """Whether an answer fails a shown check that must catch it."""
    return answer.caught_by in traces and traces[answer.caught_by].lost


def _first(exercise: Exercise, lane: Lane, answer: Answer, shown: frozenset[str]) -> Traces:
    """What an answer does in the shown checks with the first seed; nothing where that does not show a mistake."""
    outcomes = _outcomes(exercise, lane, answer, SEALED_SEEDS[0], shown)
    return _traces(outcomes) if all_seen(outcomes) else {}


def _apart(
    exercise: Exercise, lane: Lane, group: Sequence[tuple[Answer, Traces]]
) -> Iterable[tuple[_Behaviour, list[Answer]]]:
    """Answers that do the same with the first seed, by what they do with the others."""
    found: dict[str, tuple[_Behaviour, list[Answer]]] = {}
    for answer, first in group:
        lost = frozenset(id for id, trace in first.items() if trace.lost)
        again, *further = (_traces(_outcomes(exercise, lane, answer, seed, lost)) for seed in SEALED_SEEDS)
        # What reads memory that nobody wrote does another thing each time, and the copy is to be the same each time.
        if all(first[id] == trace for id, trace in again.items()):
            behaviour = (first, *further)
            found.setdefault(repr(behaviour), (behaviour, []))[1].append(answer)
    return found.values()


def _outcomes(exercise: Exercise, lane: Lane, answer: Answer, seed: int, checks: frozenset[str]) -> Sequence[Outcome]:
    files: Mapping[str, bytes] = as_submitted(exercise, answer.source)
    return lane.run(exercise, files, seed, part=Part(checks, told=False)).outcomes


def _traces(outcomes: Sequence[Outcome]) -> Traces:
    return {outcome.check: Trace.of(outcome) for outcome in outcomes}
