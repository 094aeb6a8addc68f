"""What wrong answers lose, and on which rules: one mistake should cost about the rule that it breaks.

A wrong answer breaks the rule of the check that must catch it, and those that its file names in a line `breaks:`. What
it loses on others, it loses because a check needs more than its own rule does. Losses are means over seeds, so that
one draw decides nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from grader.author.cases import Case
from grader.author.proof import Loss, Proof
from grader.course.layout import Places
from grader.model import GradedExercise
from grader.model.score import points_text
from grader.report.safe import for_terminal

MOST_ON_OTHERS = 0.1
"""Of an exercise's points, what a wrong answer may lose on rules that it keeps."""

_NAME = 46


def losses_of(runs: Sequence[tuple[Case, GradedExercise]]) -> list[Loss]:
    """What each wrong answer among the cases loses, in the mean over its runs."""
    by_file: dict[str, list[tuple[Case, GradedExercise]]] = {}
    for case, graded in runs:
        if case.kind == "wrong":
            by_file.setdefault(case.answer.path.name, []).append((case, graded))
    return [_loss(mine) for mine in by_file.values()]


def _loss(runs: Sequence[tuple[Case, GradedExercise]]) -> Loss:
    case, first = runs[0]
    rules = {row.check.id: row.check.contract for row in first.checks}
    answer = case.answer
    rule = rules.get(answer.caught_by, "")
    lost, open_ = Counter[str](), Counter[str]()
    for _, graded in runs:
        for row in graded.checks:
            lost[row.check.contract] += row.score.possible - row.score.earned - row.score.undecided - row.held_back
            open_[row.check.contract] += row.score.undecided
        # What is held back is lost on the rule that has the cap; or no value was right, and that is the mistake itself.
        lost[graded.held_by or rule] += graded.held_back
    mean = {name: points / len(runs) for name, points in lost.items() if points}
    return Loss(answer.path.name, rule, answer.breaks, mean, frozenset(+open_))


def loss_problems(proof: Proof) -> Iterator[str]:
    """Wrong answers that lose much on rules which they keep, and those that say wrongly what they break."""
    exercise = proof.exercise
    most = MOST_ON_OTHERS * exercise.points
    for loss in proof.losses:
        where = (Places.of(exercise).wrong / loss.name).as_posix()
        for rule in loss.breaks:
            if rule not in exercise.contract:
                yield f"{where}: breaks: there is no rule {rule}; the rules are {', '.join(exercise.contract)}"
            # Where a check could not be run, nothing can be lost on its rule.
            elif rule not in loss.lost and rule not in loss.undecided:
                yield f"{where}: breaks: it loses nothing on {rule}; remove that, or write a check which sees it"
        if loss.on_others > most:
            others = _in_order(rule for rule in loss.lost if rule not in loss.own)
            told = ", ".join(f"{rule or 'no rule'} {_points(loss.lost[rule])}" for rule in others)
            rules = ", ".join(_in_order({*loss.own, *others} - {""}))
            yield (
                f"{where}: it breaks {' and '.join(_in_order(loss.own))}, and loses {_points(loss.on_others)} of "
                f"{_points(exercise.points)} points on rules that it keeps ({told}); let the checks of these need no "
                f"more than their rule, or, if it breaks them by its nature, write  breaks: {rules}"
            )


def share_lines(proofs: Sequence[Proof]) -> Iterator[str]:
    """The share of all lost points that lies on rules which are kept."""
    losses = [loss for proof in proofs for loss in proof.losses]
    total, others = sum(sum(loss.lost.values()) for loss in losses), sum(loss.on_others for loss in losses)
    if total:
        yield f"{100 * others / total:.0f} % of the points that wrong answers lose lie on rules that they keep"


def loss_lines(proofs: Sequence[Proof]) -> Iterator[str]:
    """A row for each wrong answer: what it loses on the rules that it breaks, and on which others."""
    yield f"{'wrong answer':<{_NAME}}{'lost':>6}  {'its rules':<12}other rules"
    for proof in proofs:
        for loss in proof.losses:
            name = for_terminal(f"{proof.exercise.number} {loss.name.removesuffix('.py')}", one_line=True)
            own = f"{','.join(_in_order(loss.own))} {_points(sum(loss.lost.values()) - loss.on_others)}"
            rest = ", ".join(
                f"{rule or 'no rule'} {_points(loss.lost[rule])}"
                for rule in _in_order(loss.lost)
                if rule not in loss.own
            )
            yield f"{name:<{_NAME}}{_points(sum(loss.lost.values())):>6}  {own:<12}{rest}".rstrip()


def _in_order(rules: Iterable[str]) -> list[str]:
    """C2 before C10."""
    return sorted(rules, key=lambda rule: (len(rule), rule))


def _points(hundredths: float) -> str:
    return points_text(round(hundredths))
