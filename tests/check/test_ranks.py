"""A function on several ranks: each gets its own arguments, and what goes wrong on one of them is told as its cause."""

from __future__ import annotations

import pytest
import torch
from support import Function

from grader.check.costs import on_ranks
from grader.connection.connection import Proxy
from grader.model.endings import CheckFailed

SHARDS = [[torch.tensor([1.0, 2.0])], [torch.tensor([4.0])], [torch.tensor([])]]


def ranked(function: Function, body: str) -> Proxy:
    """A function `total(x)` with this body."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return function(f"import os\nimport torch.distributed as dist\ndef total(x):\n{lines}", processes=32)


def test_ranks_talk(function: Function) -> None:
    """Each rank has its own shard, and all of them the sum; collectives and their bytes are counted on each."""
    found = on_ranks(ranked(function, "t = x.sum()\ndist.all_reduce(t)\nreturn t"), SHARDS)
    assert [float(rank.result) for rank in found] == [7.0, 7.0, 7.0]
    assert [(dict(rank.collectives), rank.sent, rank.changed) for rank in found] == [({"allreduce": 1}, 4, False)] * 3


def test_ranks_know_their_number(function: Function) -> None:
    """Rank and world size are those of torch.distributed and of the environment."""
    found = on_ranks(ranked(function, "return [dist.get_rank(), int(os.environ['WORLD_SIZE'])]"), SHARDS)
    assert [rank.result for rank in found] == [[0, 3], [1, 3], [2, 3]]


def test_a_changed_argument_is_told(function: Function) -> None:
    """A collective that reduces the argument itself changes it."""
    found = on_ranks(ranked(function, "dist.all_reduce(x)\nreturn x.sum()"), [[torch.ones(2)], [torch.ones(2)]])
    assert [rank.changed for rank in found] == [True, True]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("if dist.get_rank() == 1: raise ValueError('no score')\ndist.barrier()", "rank 1 raised ValueError: no score"),
        ("if dist.get_rank() == 1: os._exit(1)\ndist.barrier()", "the process of rank 1 of 3 ended before"),
        ("if dist.get_rank() == 1: dist.barrier()", "rank 1 of 3 waits in a collective: others do something else"),
    ],
    ids=["raises", "dies", "waits"],
)
def test_what_goes_wrong_is_told_as_its_cause(function: Function, body: str, told: str) -> None:
    """One rank that raises, dies, or waits alone ends the call for all, and is named."""
    with pytest.raises(CheckFailed, match=told):
        on_ranks(ranked(function, body), SHARDS)


def test_odd_results_are_values(function: Function) -> None:
    """None comes back as it is, and what is no plain value as the name of its type."""
    assert [rank.result for rank in on_ranks(ranked(function, "return None"), SHARDS)] == [None] * 3
    assert [rank.result for rank in on_ranks(ranked(function, "return x.numpy()"), SHARDS[:1])] == ["<ndarray>"]


def test_limits_must_allow_ranks(function: Function) -> None:
    """Where the exercise forgot the limit, its author is told and not the student."""
    with pytest.raises(ValueError, match="3 ranks need `limits: processes: 24`"):
        on_ranks(function("def total(x): return x"), SHARDS)
