"""Wrong answers that nothing tells apart: a student who makes one of their mistakes reads the sentences of both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from grader.author.cases import Case
from grader.author.proof import Proof
from grader.course.layout import Places
from grader.grading.diagnose import MOST
from grader.grading.traces import Trace, traces_of
from grader.model import GradedExercise


def alike_notes(proof: Proof, runs: Sequence[tuple[Case, GradedExercise]]) -> Iterator[str]:
    """A sentence for each group of wrong answers with different sentences that do the same with every seed.

    Args:
        proof: of the exercise.
        runs: its cases; those of wrong answers are looked at.
    """
    seen: dict[str, dict[int, frozenset[tuple[str, Trace]]]] = defaultdict(dict)
    sentences: dict[str, str] = {}
    for case, graded in runs:
        if case.kind != "wrong":
            continue
        traces = traces_of(graded.checks)
        if any(trace.lost for trace in traces.values()):
            sentences[case.answer.path.name] = case.answer.sentence
            seen[case.answer.path.name][case.seed] = frozenset(traces.items())
    groups: dict[frozenset[tuple[int, frozenset[tuple[str, Trace]]]], list[str]] = defaultdict(list)
    for name, by_seed in seen.items():
        groups[frozenset(by_seed.items())].append(name)
    for names in groups.values():
        told = len({sentences[name] for name in names})
        if told > 1:
            reads = "both sentences" if told <= MOST else "none of their sentences"
            yield (
                f"{Places.of(proof.exercise).wrong.as_posix()}: {', '.join(names)} behave alike with every seed, so "
                f"that a student with one of these mistakes is told {reads}; merge them, or add a check which tells "
                "them apart"
            )
