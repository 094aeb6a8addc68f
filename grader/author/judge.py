"""What of the runs of an exercise's files does not go as it should, as sentences with their remedies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.author.cases import Case
from grader.author.odd import MAY_BE_RIGHT
from grader.author.places import statement
from grader.author.proof import Proof
from grader.course.layout import Places
from grader.model import Check, Outcome, Verdict

LONGEST_S = 10.0
"""Seconds that the checks of a reference may take."""


def judge(proof: Proof, checks: Sequence[Check], found: Sequence[tuple[Case, Sequence[Outcome]]]) -> None:
    """Add to a proof what its runs show.

    Args:
        proof: of the exercise.
        checks: all that it has.
        found: each run, with the outcomes of all checks.
    """
    judges = {"starter": _judge_starter, "reference": _judge_right, "right": _judge_right, "wrong": _judge_wrong}
    judges["constant"] = _judge_constant
    judges["odd"] = _judge_odd
    told: dict[tuple[Path | None, str], tuple[str, set[Path]]] = {}
    for case, outcomes in found:
        # The longest of its runs, those on a busy machine among them.
        if case.kind == "reference":
            proof.seconds = max(proof.seconds, sum(outcome.seconds for outcome in outcomes))
        problem, unproved = judges[case.kind](case, checks, outcomes)
        good, total = proof.counts.get(case.kind, (0, 0))
        proof.counts[case.kind] = (good + (problem is None), total + 1)
        if unproved and case.answer.path.name not in proof.unproved:
            proof.unproved.append(case.answer.path.name)
        if problem:
            # Twenty seeds may show one problem twenty times; it is told with the first of them. A check that is at
            # fault is so with many answers, and is one problem.
            whose = None if problem == _broken(case, outcomes) else case.answer.path
            seed = "" if case.kind == "starter" else f" (first with --seed {case.seed})"
            _, paths = told.setdefault((whose, problem), (f"{_place(case)}: {problem}{seed}", set()))
            paths.add(case.answer.path)
    for line, paths in told.values():
        proof.problems.append(line if len(paths) == 1 else f"{line}; so it is with {len(paths) - 1} more answers")
    proof.notes += _notes(found)
    if proof.seconds > LONGEST_S:
        text = f"the reference takes {proof.seconds:.1f} s; make inputs smaller, {LONGEST_S:g} s is the limit"
        proof.problems.append(f"{Places.of(proof.exercise).shown.as_posix()}: {text}")


Judged = tuple[str | None, bool]
"""What is wrong, and whether it could not be proved here."""


def _judge_starter(case: Case, checks: Sequence[Check], outcomes: Sequence[Outcome]) -> Judged:
    del checks
    broken = _broken(case, outcomes)
    if broken is None and all(outcome.verdict is Verdict.PASSED or not outcome.verdict.decided for outcome in outcomes):
        return "the starter passes every check; leave something for the student to do, or mend the checks", False
    return broken, False


def _judge_right(case: Case, checks: Sequence[Check], outcomes: Sequence[Outcome]) -> Judged:
    what = "the reference" if case.kind == "reference" else "this right answer"
    if (broken := _broken(case, outcomes)) is not None:
        return broken, False
    for check, outcome in zip(checks, outcomes, strict=True):
        if outcome.verdict.decided and outcome.verdict is not Verdict.PASSED:
            reason = (outcome.detail or outcome.message).split("\n")[0]
            where = statement(case.exercise, outcome)
            return f"{what} does not pass check_{check.id} ({reason}{where}); mend one of the two", False
        if outcome.verdict is Verdict.INCONCLUSIVE:
            return f"{what} gets no verdict from check_{check.id}; make its measurement clearer", False
    return None, False


def _judge_wrong(case: Case, checks: Sequence[Check], outcomes: Sequence[Outcome]) -> Judged:
    if (broken := _broken(case, outcomes)) is not None:
        return broken, False
    # The check that is named, not just any: one that catches everything by accident proves nothing of the others.
    named = next(outcome for check, outcome in zip(checks, outcomes, strict=True) if check.id == case.answer.caught_by)
    if named.verdict is Verdict.NOT_RUN:
        return None, True
    if named.verdict is Verdict.INCONCLUSIVE:
        return f"it gets no verdict from check_{case.answer.caught_by}; make its measurement clearer", False
    # Skipped loses the points, but says nothing of the mistake: the student would read the wrong message.
    if named.verdict is Verdict.SKIPPED:
        reason = named.message.split("\n")[0]
        return f"check_{case.answer.caught_by} could not judge it ({reason}; {_others(outcomes)}); name another", False
    if named.verdict is Verdict.PASSED:
        text = f"check_{case.answer.caught_by} does not catch this wrong answer ({_others(outcomes)})"
        return f"{text}; mend the check, or name another", False
    return None, False


def _judge_odd(case: Case, checks: Sequence[Check], outcomes: Sequence[Outcome]) -> Judged:
    del checks
    if (broken := _broken(case, outcomes)) is not None:
        return broken, False
    if _has_full_marks(outcomes) and case.odd not in MAY_BE_RIGHT:
        return "this odd answer gets full marks; add a check that looks at what comes back", False
    return None, False


def _judge_constant(case: Case, checks: Sequence[Check], outcomes: Sequence[Outcome]) -> Judged:
    del checks
    return _broken(case, outcomes), False


def _notes(found: Sequence[tuple[Case, Sequence[Outcome]]]) -> Iterator[str]:
    """What an author is asked about odd answers that may be right."""
    asked: dict[str, list[str]] = {}
    for case, outcomes in found:
        if case.odd in MAY_BE_RIGHT and case.odd not in case.answer.fine and _has_full_marks(outcomes):
            asked.setdefault(case.odd, []).append(case.function)
    if asked:
        told = "; ".join(
            f"{', '.join(functions)} may give {odd}: is there a rule on {MAY_BE_RIGHT[odd]}?"
            for odd, functions in asked.items()
        )
        where = Places.of(found[0][0].exercise).reference.as_posix()
        line = f"odd but fine: {', '.join(asked)}"
        yield f"{where}: full marks: {told} If there is none, write  {line}  into its docstring"


def _has_full_marks(outcomes: Sequence[Outcome]) -> bool:
    decided = [outcome.verdict for outcome in outcomes if outcome.verdict.decided]
    return bool(decided) and all(verdict is Verdict.PASSED for verdict in decided)


def _others(outcomes: Sequence[Outcome]) -> str:
    """Which checks did catch a wrong answer."""
    caught = [outcome.check for outcome in outcomes if outcome.verdict in (Verdict.FAILED, Verdict.CRASHED)]
    return f"{', '.join(caught)} did" if caught else "no check did"


def _broken(case: Case, outcomes: Sequence[Outcome]) -> str | None:
    for outcome in outcomes:
        if outcome.verdict is Verdict.BROKEN:
            reason = outcome.detail.strip().split("\n")[0]
            where = statement(case.exercise, outcome)
            return f"check_{outcome.check} is at fault itself ({reason}{where}); mend it"
    return None


def _place(case: Case) -> str:
    places = Places.of(case.exercise)
    if case.kind in ("odd", "constant"):
        return f"{places.staff.as_posix()}: {case.answer.path.name}"
    folder = {"starter": places.shown, "reference": places.staff, "right": places.right, "wrong": places.wrong}[
        case.kind
    ]
    return (folder / case.answer.path.name).as_posix()
