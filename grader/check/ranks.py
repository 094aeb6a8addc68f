"""A function on several ranks: what each gives, and which collectives it calls."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader.check.costs import read_table, report
from grader.connection.connection import Proxy, connection_of, is_proxy, word_of
from grader.connection.student import own_probe
from grader.model.endings import CannotJudge, CheckFailed
from grader.model.public import say

_PROCESSES = 8
"""A rank, and the threads that gloo starts in it."""

_CAUSES = {"raised": 0, "died": 1, "waits": 2}


@dataclass(frozen=True)
class Rank:
    """What one rank did, as the worker says.

    Attributes:
        result: what the call gave.
        collectives: how often each collective was called, by name.
        sent: bytes handed to collectives.
        changed: whether one of its arguments was changed.
    """

    result: Any
    collectives: Counter[str]
    sent: int
    changed: bool


def on_ranks(function: Proxy, each: Sequence[Sequence[Any]]) -> list[Rank]:
    """Call a function on as many ranks as there are lists of arguments, at the same time; gives one `Rank` for each.

    The ranks are processes of the student's worker. `torch.distributed` is initialised with gloo, over loopback. The
    exercise's limits must allow eight processes for each rank, as gloo's threads count too.

    Raises:
        CheckFailed: a rank raised, died, or waits for others that never come.
        CannotJudge: this machine cannot fork.
        ValueError: the exercise's limits allow too few processes.
    """
    if not hasattr(os, "fork"):
        raise CannotJudge("several ranks need a system that can fork")
    args = [list(arguments) for arguments in each]
    if is_proxy(function) and connection_of(function).limits.processes < _PROCESSES * len(args):
        # Else the student would be told of too many processes, none of which is theirs.
        raise ValueError(f"{len(args)} ranks need `limits: processes: {_PROCESSES * len(args)}` in exercise.yaml")
    answer = own_probe(function, "on_ranks", [args], tuple(args[0]), {}, len(args))
    if not isinstance(answer, list) or len(answer) != len(args):
        raise CheckFailed(say("what the ranks of `{}` did could not be read", function))
    # The cause of what the other ranks wait for is told first.
    order = sorted(range(len(answer)), key=lambda rank: _CAUSES.get(_ending(answer[rank]), len(_CAUSES)))
    ranks = {rank: _read(function, rank, len(answer), answer[rank]) for rank in order}
    found = [ranks[rank] for rank in range(len(answer))]
    report(function, "collectives", max(rank.collectives.total() for rank in found))
    report(function, "sent", max(rank.sent for rank in found))
    return found


def _ending(row: object) -> str:
    return str(row.get("ended")) if isinstance(row, dict) else ""


def _read(function: Proxy, rank: int, size: int, row: object) -> Rank:
    match row:
        case {"ended": "raised", "raised": [str() as kind, str() as text]}:
            public = say("`{}` raises an exception on a rank", function)
            raise CheckFailed(public, f"rank {rank} raised {kind}: {text}")
        case {"ended": "died"}:
            public = say("`{}` ends the process of a rank", function)
            story = f"the process of rank {rank} of {size} ended before `{word_of(function)}` returned"
            raise CheckFailed(public, story)
        case {"ended": "waits"}:
            public = say("`{}` waits for ever on a rank: the others do not come to the collective it calls", function)
            raise CheckFailed(
                public, f"rank {rank} of {size} waits in a collective: others do something else, or are done"
            )
        case {"ended": "returned", "result": result, "collectives": dict() as called, "sent": int() as sent,
              "changed": bool() as changed}:  # fmt: skip
            collectives = read_table("collectives", called)
            if collectives is not None and sent >= 0:
                return Rank(result, collectives, sent, changed)
    raise CheckFailed(say("what the ranks of `{}` did could not be read", function))
