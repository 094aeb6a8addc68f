"""What students are told of hidden checks: few different messages, all of them made of words known before the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.author.cases import Case
from grader.author.proof import Proof
from grader.course.layout import Places
from grader.model import WITHHELD, Check, Outcome

MOST_MESSAGES = 24
"""How many different messages a hidden check may give, over all answers and seeds.

Odd answers are of ten kinds, and a check may look at two functions, each with a name in its messages.
"""

_LONGEST = 100


def judge_messages(proof: Proof, checks: Sequence[Check], found: Sequence[tuple[Case, Sequence[Outcome]]]) -> None:
    """Note what was told of hidden checks, and add to a proof what should not have been, or was too much.

    Args:
        proof: of the exercise.
        checks: all that it has.
        found: each run, with the outcomes of all checks.
    """
    where = Places.of(proof.exercise).hidden_checks.as_posix()
    withheld: dict[str, str] = {}
    proof.messages |= {check.id: set() for check in checks if not check.shown}
    for _, outcomes in found:
        for outcome in outcomes:
            if outcome.message and outcome.check in proof.messages:
                proof.messages[outcome.check].add(outcome.message)
            for line in outcome.detail.split("\n"):
                if line.startswith(WITHHELD):
                    withheld.setdefault(outcome.check, line.removeprefix(f"{WITHHELD}: ")[:_LONGEST])
    for id, text in withheld.items():
        proof.problems.append(
            f"{where}: check_{id}: a student is not told what it says ({text}), as not all of it stands in the file; "
            "say the property in words of the file, and the numbers in the story"
        )
    for id, messages in proof.messages.items():
        if len(messages) > MOST_MESSAGES:
            proof.problems.append(
                f"{where}: check_{id}: it told {len(messages)} different messages of its hidden inputs, "
                f"{MOST_MESSAGES} at most are asked; say what differs in the story"
            )


def told_lines(proofs: Sequence[Proof]) -> Iterator[str]:
    """For each exercise, how many different messages its hidden checks gave."""
    for proof in proofs:
        counts = {id: len(messages) for id, messages in proof.messages.items()}
        if counts:
            most = max(counts, key=counts.__getitem__)
            yield (
                f"{proof.exercise.id}: {sum(counts.values())} different messages of {len(counts)} hidden checks, "
                f"{counts[most]} at most of one (check_{most})"
            )
