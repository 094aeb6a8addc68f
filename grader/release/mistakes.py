"""What a copy has of known wrong answers: their sentences, sealed with what they do in the shown checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from grader.course.answers import Answer, as_submitted, read_answer
from grader.diagnosis.diagnose import MOST, all_seen
from grader.diagnosis.sealed import SEALED_SEEDS, Sealed, name_of, seal
from grader.diagnosis.traces import Trace, Traces, compared
from grader.jobs import Part
from grader.lanes.lane import Lane
from grader.model import Exercise, Outcome
from grader.model.errors import CourseError

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
    alike: dict[str, tuple[_Behaviour, list[Answer]]] = {}
    for path in exercise.wrong:
        # One that cannot be read is its author's to mend, whom `grade verify` tells.
        with suppress(CourseError, OSError):
            answer = read_answer(exercise, path)
            if answer.sentence and (behaviour := _behaviour(exercise, lane, answer, shown)):
                alike.setdefault(repr(behaviour), (behaviour, []))[1].append(answer)
    sealed: dict[str, list[str]] = {}
    told: list[str] = []
    for behaviour, answers in alike.values():
        sentences = list(dict.fromkeys(" ".join(answer.sentence.split()) for answer in answers))
        if len(sentences) <= MOST and any(_loses(behaviour, answer) for answer in answers):
            told += sentences
            name = name_of(exercise.id, behaviour[0])
            sealed.setdefault(name, []).append(seal(exercise.id, behaviour, sentences))
    return sealed, told


def _loses(behaviour: _Behaviour, answer: Answer) -> bool:
    """Whether an answer fails a shown check that must catch it."""
    return answer.caught_by in behaviour[0] and behaviour[0][answer.caught_by].lost


def _behaviour(exercise: Exercise, lane: Lane, answer: Answer, shown: frozenset[str]) -> _Behaviour | None:
    """What an answer does in the shown checks with each seed; None if that shows nothing, or is not always the same."""
    first = _outcomes(exercise, lane, answer, SEALED_SEEDS[0], shown)
    if not all_seen(first):
        return None
    traces = _traces(first)
    lost = frozenset(id for id, trace in traces.items() if trace.lost)
    further = [_traces(_outcomes(exercise, lane, answer, seed, lost)) for seed in SEALED_SEEDS[1:]]
    # What reads memory that nobody wrote does another thing each time, and the copy is to be the same each time.
    again = _traces(_outcomes(exercise, lane, answer, SEALED_SEEDS[0], shown))
    return (traces, *further) if again == traces else None


def _outcomes(exercise: Exercise, lane: Lane, answer: Answer, seed: int, checks: frozenset[str]) -> Sequence[Outcome]:
    files: Mapping[str, bytes] = as_submitted(exercise, answer.source)
    return lane.run(exercise, files, seed, None, Part(checks, told=False)).outcomes


def _traces(outcomes: Sequence[Outcome]) -> Traces:
    return {outcome.check: Trace.of(outcome) for outcome in outcomes}
