"""What wrong answers lose, and on which rules: one mistake should cost about the rule that it breaks, with any inputs.

A wrong answer breaks the rule of the check that must catch it, and those that its file names in a line `breaks:`. What
it loses on others, it loses because a check needs more than its own rule does. Losses are means over seeds, so that
one draw decides nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.author.cases import Case
from grader.course.layout import Places
from grader.grading.behaviour import Trace, traces_of
from grader.grading.diagnosis import MOST
from grader.model import Exercise, GradedExercise, Verdict
from grader.model.score import points_text

Runs = Sequence[tuple[Case, GradedExercise]]
"""Cases, each with what it showed."""

MOST_ON_OTHERS = 0.1
"""Of an exercise's points, what a wrong answer may lose on rules that it keeps."""


@dataclass(frozen=True)
class Loss:
    """What one wrong answer loses, in the mean over seeds.

    Attributes:
        name: its file's name.
        rule: the contract line that the check which must catch it examines.
        breaks: the others that it breaks, as its file says.
        lost: hundredths of a point by contract line; "" for checks that name none.
        undecided: contract lines of which something could not be decided.
    """

    name: str
    rule: str
    breaks: tuple[str, ...]
    lost: Mapping[str, float]
    undecided: frozenset[str] = frozenset()

    @property
    def own(self) -> set[str]:
        """The rules that it breaks."""
        return {self.rule, *self.breaks}

    @property
    def total(self) -> float:
        """Hundredths of a point lost."""
        return sum(self.lost.values())

    @property
    def on_others(self) -> dict[str, float]:
        """Hundredths of a point lost on each other rule."""
        return {rule: self.lost[rule] for rule in in_order(self.lost) if rule not in self.own}


def losses_of(runs: Runs) -> list[Loss]:
    """What each wrong answer among the cases loses, in the mean over its runs."""
    by_file: dict[str, list[tuple[Case, GradedExercise]]] = {}
    for case, graded in runs:
        if case.kind == "wrong":
            by_file.setdefault(case.answer.path.name, []).append((case, graded))
    return [_loss(own) for own in by_file.values()]


def _loss(runs: Runs) -> Loss:
    case, first = runs[0]
    answer = case.answer
    rule = next((row.check.contract for row in first.checks if row.check.id == answer.caught_by), "")
    lost, undecided = Counter[str](), Counter[str]()
    for _, graded in runs:
        for row in graded.checks:
            lost[row.check.contract] += row.score.possible - row.score.earned - row.score.undecided - row.held_back
            undecided[row.check.contract] += row.score.undecided
        # What is held back is lost on the rule that has the cap; or no value was right, and that is the mistake itself.
        lost[graded.held_by or rule] += graded.held_back
    mean = {name: points / len(runs) for name, points in lost.items() if points}
    return Loss(answer.path.name, rule, answer.breaks, mean, frozenset(+undecided))


def loss_problems(exercise: Exercise, losses: Sequence[Loss]) -> Iterator[str]:
    """Wrong answers that lose much on rules which they keep, and those that say wrongly what they break."""
    for loss in losses:
        where = Places.of(exercise).wrong_answer(loss.name)
        for rule in loss.breaks:
            if rule not in exercise.contract:
                yield f"{where}: breaks: there is no rule {rule}; the rules are {', '.join(exercise.contract)}"
            # Where a check could not be run, nothing can be lost on its rule.
            elif rule not in loss.lost and rule not in loss.undecided:
                yield f"{where}: breaks: it loses nothing on {rule}; remove that, or write a check that notices it"
        others = loss.on_others
        if sum(others.values()) > MOST_ON_OTHERS * exercise.points:
            rules = ", ".join(in_order({*loss.own, *others} - {""}))
            yield (
                f"{where}: it breaks {' and '.join(in_order(loss.own))}, and loses {points(sum(others.values()))} of "
                f"{points(exercise.points)} points on rules that it keeps ({by_rule(others)}); let the checks of these "
                f"need no more than their rule, or, if it breaks them by its nature, write  breaks: {rules}"
            )


def unsteady_problems(exercise: Exercise, runs: Runs) -> Iterator[str]:
    """A sentence for each check that a wrong answer passes with one seed, and not with another."""
    seen: dict[tuple[str, str], dict[bool, int]] = defaultdict(dict)
    for case, graded in runs:
        for row in graded.checks if case.kind == "wrong" else ():
            if row.outcome.verdict.decided:
                passed = row.outcome.verdict is Verdict.PASSED
                seen[case.answer.path.name, row.check.id].setdefault(passed, case.seed)
    for (name, check), seeds in seen.items():
        if len(seeds) > 1:
            yield (
                f"{Places.of(exercise).wrong_answer(name)}: it passes check_{check} with --seed {seeds[True]} "
                f"and not with --seed {seeds[False]}, so that luck decides what it earns; draw inputs that always "
                "show the mistake, or never"
            )


def alike_notes(exercise: Exercise, runs: Runs) -> Iterator[str]:
    """A sentence for each group of wrong answers with different sentences that do the same with every seed.

    A student who makes one of their mistakes would read the sentences of both.
    """
    seen: dict[str, dict[int, frozenset[tuple[str, Trace]]]] = defaultdict(dict)
    sentences: dict[str, str] = {}
    for case, graded in runs:
        traces = traces_of(graded.checks) if case.kind == "wrong" else {}
        if any(trace.lost for trace in traces.values()):
            sentences[case.answer.path.name] = case.answer.sentence
            seen[case.answer.path.name][case.seed] = frozenset(traces.items())
    groups: dict[frozenset[tuple[int, frozenset[tuple[str, Trace]]]], list[str]] = defaultdict(list)
    for name, by_seed in seen.items():
        groups[frozenset(by_seed.items())].append(name)
    for names in groups.values():
        different = len({sentences[name] for name in names})
        if different > 1:
            reads = "both sentences" if different <= MOST else "none of their sentences"
            yield (
                f"{Places.of(exercise).wrong.as_posix()}: {', '.join(names)} behave alike with every seed, so that a "
                f"student with one of these mistakes reads {reads}; merge them, or add a check that distinguishes them"
            )


def in_order(rules: Iterable[str]) -> list[str]:
    """C2 before C10."""
    return sorted(rules, key=lambda rule: (len(rule), rule))


def by_rule(lost: Mapping[str, float]) -> str:
    """What is lost on each of these rules."""
    return ", ".join(f"{rule or 'no rule'} {points(lost[rule])}" for rule in lost)


def points(hundredths: float) -> str:
    """Points of a mean, as a person writes them."""
    return points_text(round(hundredths))
