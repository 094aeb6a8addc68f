"""What wrong answers lose, and on which rules: one mistake should cost about the rule that it breaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from grader.model import GradedExercise
from grader.model.score import points_text
from grader.report.safe import for_terminal
from grader.verify.cases import Case
from grader.verify.proof import Loss, Proof

_NAME = 46


def loss_of(case: Case, graded: GradedExercise) -> Loss:
    """What a wrong answer lost in one run."""
    rules = {row.check.id: row.check.contract for row in graded.checks}
    lost = Counter[str]()
    for row in graded.checks:
        lost[row.check.contract] += row.score.possible - row.score.earned - row.score.undecided
    return Loss(case.answer.path.stem, rules.get(case.answer.caught_by, ""), +lost)


def loss_lines(proofs: Sequence[Proof]) -> Iterator[str]:
    """A row for each wrong answer: what it loses on its own rule, and on which others; then the share of these."""
    yield f"{'wrong answer':<{_NAME}}{'lost':>6}  {'its rule':<12}other rules"
    total = others = 0
    for proof in proofs:
        for loss in proof.losses:
            name = for_terminal(f"{proof.exercise.number} {loss.name}", one_line=True)
            own = f"{loss.rule} {points_text(loss.lost[loss.rule])}"
            rest = ", ".join(
                f"{rule or 'no rule'} {points_text(points)}"
                for rule, points in sorted(loss.lost.items())
                if rule != loss.rule
            )
            yield f"{name:<{_NAME}}{points_text(loss.lost.total()):>6}  {own:<12}{rest}".rstrip()
            total, others = total + loss.lost.total(), others + loss.on_others
    if total:
        yield f"{100 * others / total:.0f} % of all points lost lie on rules that the answer does not break by its name"
