"""Whether a wrong answer loses the same whatever the inputs are: two students with one program get one score."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from grader.author.cases import Case
from grader.author.proof import Proof
from grader.course.layout import Places
from grader.model import GradedExercise, Verdict


def steady_problems(proof: Proof, runs: Sequence[tuple[Case, GradedExercise]]) -> Iterator[str]:
    """A sentence for each check that a wrong answer passes with one seed, and not with another.

    Args:
        proof: of the exercise.
        runs: its cases; those of wrong answers are looked at.
    """
    seen: dict[tuple[str, str], dict[bool, int]] = defaultdict(dict)
    for case, graded in runs:
        if case.kind != "wrong":
            continue
        for row in graded.checks:
            if row.outcome.verdict.decided:
                passed = row.outcome.verdict is Verdict.PASSED
                seen[case.answer.path.name, row.check.id].setdefault(passed, case.seed)
    for (name, check), seeds in seen.items():
        if len(seeds) > 1:
            yield (
                f"{(Places.of(proof.exercise).wrong / name).as_posix()}: it passes check_{check} with --seed "
                f"{seeds[True]} and not with --seed {seeds[False]}, so that luck decides what it earns; draw inputs "
                "which always show the mistake, or never"
            )
