"""What `grade verify` found, for a terminal: one table, then every problem as a sentence."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from grader.author.losses import share_lines
from grader.author.proof import Proof
from grader.author.told import told_lines
from grader.model.score import counted
from grader.report.lines import WIDTH
from grader.report.safe import for_terminal

_KINDS = ("starter", "reference", "right", "wrong")


def proof_lines(proofs: Sequence[Proof], broken: Sequence[str] = ()) -> Iterator[str]:
    """A row for each exercise; below it the problems, with their remedies; `broken` are those of the course's files."""
    yield from _table(proofs)
    yield from later_lines(proofs, broken)


def first_lines(proofs: Sequence[Proof], broken: Sequence[str] = ()) -> Iterator[str]:
    """What is known when some runs are still to come: the table, and the problems up to now."""
    yield from _table(proofs)
    for problem in _problems(proofs, broken):
        yield from _wrapped(problem)


def later_lines(
    proofs: Sequence[Proof], broken: Sequence[str] = (), before: Sequence[Proof] | None = None
) -> Iterator[str]:
    """What stands below the table.

    Args:
        proofs: with all their runs.
        broken: problems of the course's files.
        before: what `first_lines` told, if anything: those problems are not told again.
    """
    for proof in proofs:
        if proof.unproved:
            files = for_terminal(", ".join(proof.unproved), one_line=True)
            yield f"{proof.exercise.id}: not proved here, as the named check needs what is not here: {files}"
    yield from share_lines(proofs)
    for note in (*told_lines(proofs), *(note for proof in proofs for note in proof.notes)):
        yield from _wrapped(note)
    problems, told = _problems(proofs, broken), [] if before is None else _problems(before, broken)
    yield ""
    for problem in problems:
        if problem not in told:
            yield from _wrapped(problem)
    for problem in told:
        if problem not in problems:
            yield from _wrapped(f"no longer so, with all runs: {problem}")
    yield "All of it holds." if not problems else f"{counted(len(problems), 'problem')} to mend."


def _table(proofs: Sequence[Proof]) -> Iterator[str]:
    yield f"{'exercise':<34}{'starter':>8}{'reference':>10}{'right':>8}{'wrong':>8}{'time':>8}"
    for proof in proofs:
        cells = [_cell(proof, kind) for kind in _KINDS]
        name = textwrap.shorten(for_terminal(f"{proof.exercise.number} {proof.exercise.id}"), 33, placeholder="...")
        yield f"{name:<34}{cells[0]:>8}{cells[1]:>10}{cells[2]:>8}{cells[3]:>8}{proof.seconds:>6.2f} s"


def _problems(proofs: Sequence[Proof], broken: Sequence[str]) -> list[str]:
    return [*broken, *(problem for proof in proofs for problem in proof.problems)]


def proof_data(proofs: Sequence[Proof], broken: Sequence[str] = ()) -> dict[str, Any]:
    """The same for other programs."""
    holds = not broken and not any(proof.problems for proof in proofs)
    return {"holds": holds, "problems": list(broken), "exercises": [_data(proof) for proof in proofs]}


def _data(proof: Proof) -> dict[str, Any]:
    runs = {kind: {"good": good, "all": total} for kind, (good, total) in proof.counts.items()}
    return {
        "id": proof.exercise.id,
        "number": proof.exercise.number,
        "runs": runs,
        "seconds": proof.seconds,
        "problems": proof.problems,
        "notes": proof.notes,
        "unproved": proof.unproved,
    }


def _wrapped(text: str) -> list[str]:
    # Paths and names are to be copied, so they are not broken.
    return textwrap.wrap(
        for_terminal(text), WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def _cell(proof: Proof, kind: str) -> str:
    good, total = proof.counts.get(kind, (0, 0))
    return f"{good}/{total}" if total else "-"
