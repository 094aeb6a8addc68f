"""What `grade verify` prints: one table, then every problem as a sentence; a table of losses."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from grader.author.judge import Proof, by_rule, in_order, points
from grader.model.score import counted
from grader.report.safe import WIDTH, for_terminal, prose

_KINDS = ("starter", "reference", "right", "wrong")
_ANSWER = 46


def proof_lines(proofs: Sequence[Proof], broken: Sequence[str] = ()) -> Iterator[str]:
    """A row for each exercise; below it the problems, with their remedies; `broken` are those of the course's files."""
    yield from _table(proofs)
    if saved := sum(proof.saved for proof in proofs):
        has, results = ("has", "its result is") if saved == 1 else ("have", "their results are")
        unchanged = f"{counted(saved, 'submission')} {has} not changed since an earlier run"
        yield from prose(f"{unchanged}, so {results} used again (--fresh runs all)", WIDTH, further="    ")
    for proof in proofs:
        if proof.unproved:
            files = for_terminal(", ".join(proof.unproved), one_line=True)
            yield f"{proof.exercise.id}: not proved here, as the named check needs what is not here: {files}"
    losses = [loss for proof in proofs for loss in proof.losses]
    if total := sum(loss.total for loss in losses):
        others = sum(sum(loss.on_others.values()) for loss in losses)
        yield f"{100 * others / total:.0f} % of the points that wrong answers lose are for rules that they obey"
    for note in (note for proof in proofs for note in proof.notes):
        yield from prose(note, WIDTH, further="    ")
    problems = _problems(proofs, broken)
    yield ""
    for problem in problems:
        yield from prose(problem, WIDTH, further="    ")
    yield "No problems found." if not problems else f"{counted(len(problems), 'problem')} to fix."


def _table(proofs: Sequence[Proof]) -> Iterator[str]:
    yield f"{'exercise':<34}{'starter':>8}{'reference':>10}{'right':>8}{'wrong':>8}{'time':>8}"
    for proof in proofs:
        counts = [proof.counts.get(kind, (0, 0)) for kind in _KINDS]
        cells = [f"{good}/{total}" if total else "-" for good, total in counts]
        name = textwrap.shorten(for_terminal(f"{proof.exercise.number} {proof.exercise.id}"), 33, placeholder="...")
        yield f"{name:<34}{cells[0]:>8}{cells[1]:>10}{cells[2]:>8}{cells[3]:>8}{proof.seconds:>6.2f} s"


def _problems(proofs: Sequence[Proof], broken: Sequence[str]) -> list[str]:
    return [*broken, *(problem for proof in proofs for problem in proof.problems)]


def proof_data(proofs: Sequence[Proof], broken: Sequence[str] = ()) -> dict[str, Any]:
    """The same for other programs."""
    exercises = [
        {
            "id": proof.exercise.id,
            "number": proof.exercise.number,
            "runs": {kind: {"good": good, "all": total} for kind, (good, total) in proof.counts.items()},
            "seconds": proof.seconds,
            "problems": proof.problems,
            "notes": proof.notes,
            "unproved": proof.unproved,
        }
        for proof in proofs
    ]
    return {"holds": not _problems(proofs, broken), "problems": list(broken), "exercises": exercises}


def loss_lines(proofs: Sequence[Proof]) -> Iterator[str]:
    """A row for each wrong answer: what it loses on the rules that it breaks, and on which others."""
    yield f"{'wrong answer':<{_ANSWER}}{'lost':>6}  {'its rules':<12}other rules"
    for proof in proofs:
        for loss in proof.losses:
            name = for_terminal(f"{proof.exercise.number} {loss.name.removesuffix('.py')}", one_line=True)
            others = loss.on_others
            own = f"{','.join(in_order(loss.own))} {points(loss.total - sum(others.values()))}"
            yield f"{name:<{_ANSWER}}{points(loss.total):>6}  {own:<12}{by_rule(others)}".rstrip()
