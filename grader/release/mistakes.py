"""What a copy has of known wrong answers: their sentences, sealed with what they do in the shown checks."""

from __future__ import annotations

from collections.abc import Mapping

from grader.course.answers import Answer, as_submitted
from grader.grading.diagnose import MOST, must_name, sentences_of, told_answers
from grader.grading.known import traces_in
from grader.grading.outcomes import graded_from
from grader.grading.sealed import SEALED_SEEDS, Sealed, name_of, seal
from grader.grading.traces import COSTS, Trace, Traces, failures_of, traces_of
from grader.model import Exercise
from grader.model.messages import Part
from grader.runner.lane import Lane

_Behaviour = tuple[Traces, ...]


def mistakes_of(exercise: Exercise, lane: Lane) -> tuple[Sealed, list[str]]:
    """The mistakes of an exercise that shown checks can tell, sealed, and the sentences in them.

    A mistake is sealed by what it does in the shown checks of the functions that it breaks, if the check that must
    catch it is one of them. Another one that does the same there is told with it; of more than two alike, none is.

    Raises:
        StartError: a process of ours did not start.
    """
    # By what they do with the first seed, as a student's own run does; most are told apart by that.
    alike: dict[str, dict[str, tuple[_Behaviour, list[Answer]]]] = {}
    for answer in told_answers(exercise):
        for behaviour in _behaviours(exercise, lane, answer):
            _, answers = alike.setdefault(name_of(exercise.id, behaviour[0]), {}).setdefault(
                repr([sorted(traces.items()) for traces in behaviour]), (behaviour, [])
            )
            answers.append(answer)
    sealed: dict[str, list[str]] = {}
    told: list[str] = []
    for name, group in alike.items():
        for behaviour, answers in group.values():
            sentences = sentences_of(answers)
            if len(sentences) <= MOST and any(answer.caught_by in behaviour[0] for answer in answers):
                told += sentences
                needed: dict[str, frozenset[str]] = {}
                for answer in answers:
                    (sentence,), names = sentences_of([answer]), must_name(exercise, answer, behaviour[0])
                    needed[sentence] = needed.get(sentence, names) & names
                sealed.setdefault(name, []).append(seal(exercise.id, behaviour, needed))
    return sealed, told


def _behaviours(exercise: Exercise, lane: Lane, answer: Answer) -> list[_Behaviour]:
    """What an answer does in the shown checks that fail, by function, with each of the seeds."""
    shown = {check.id: check for check in lane.checks_of(exercise) if check.shown}
    files: Mapping[str, bytes] = as_submitted(exercise, answer.source)
    part = Part(frozenset(shown), again=True, told=False)
    run = lane.run(exercise, files, SEALED_SEEDS[0], part=part)
    rows = graded_from(exercise, list(shown.values()), run.outcomes).checks
    first = traces_of(rows)
    failing = {id: trace for id, trace in first.items() if trace.lost}
    again = {id for id in failing if shown[id].category != COSTS}
    # What reads uninitialized memory does another thing each time, and the copy is to be the same each time.
    once_more, *further = (traces_in(lane, exercise, files, seed, again) for seed in SEALED_SEEDS)
    groups = [
        group for group in failures_of(rows) if all(failing[id] == once_more.get(id, failing[id]) for id in group)
    ]
    return [tuple(_only({**failing, **traces}, group) for traces in ({}, *further)) for group in groups]


def _only(traces: Mapping[str, Trace], ids: frozenset[str]) -> Traces:
    return {id: traces[id] for id in ids}
