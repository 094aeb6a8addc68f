"""Each counter counts right; what student code makes of the counts gains nothing (see also `test_evidence`)."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
import torch
from support import Function, failure

from grader.check import assert_no_warnings
from grader.check.calls import call_with_poisoned_memory
from grader.check.costs import (
    _decoded_counts,
    assert_costs_at_most,
    assert_no_loop,
    assert_no_new_storage,
    assert_stays_in_torch,
    count_costs,
    count_ops,
    moments_of,
    run_on_ranks,
)
from grader.check.values import assert_unchanged, assert_values
from grader.connection.connection import Proxy, connection_of
from grader.model.endings import CheckFailed
from grader.model.picture import Moment

X = torch.arange(100.0)
SMALL, LARGE = (torch.arange(10.0),), (torch.arange(100.0),)


def one(function: Function, body: str, before: str = "", device: str = "none", **limits: int) -> Proxy:
    """A function `total(x)` with this body."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return function(f"{before}\ndef total(x):\n{lines}", device=device, **limits)


# -- operations ---------------------------------------------------------------------------------------------------


def test_operations_are_counted_by_name(function: Function) -> None:
    """Each operator that runs is counted, ours are not, and the report gets the number."""
    total = one(function, "return (x * 2 + 1).sum()")
    assert count_ops(total, X) == {"mul": 1, "add": 1, "sum": 1}
    assert connection_of(total).record.counters == {"ops": 3}
    assert float(count_costs(total, X).result) == float((X * 2 + 1).sum())


@pytest.mark.parametrize("before", ["torch.set_default_dtype(torch.float64)", "torch.set_default_device('sim:1')"])
def test_defaults_of_the_student_do_not_matter(function: Function, before: str) -> None:
    """Our own operations are what they are under any default dtype and device, and nobody is accused of anything."""
    counts = count_costs(one(function, "return x * 2", before, device="sim"), X)
    assert (counts.ops, counts.bytes, counts.transfers) == ({"mul": 1}, 400, 0)


def test_a_loop_is_found_by_growth(function: Function) -> None:
    """More operations for ten times the input is a loop."""
    assert_no_loop(one(function, "return x.sum()"), SMALL, LARGE)
    for body, told in (
        ("return sum(x)", "small input  11 operations\nlarge input  101 operations (100 add, 1 unbind)"),
        ("return sum(v.item() for v in (x.double() * 2).sqrt())", "104 operations (100 item, 1 to, 1 mul, 2 others)"),
    ):
        failed = failure(assert_no_loop, one(function, body), SMALL, LARGE)
        assert "runs more operations for a larger input" in failed.public
        assert told in failed.story


@pytest.mark.parametrize(
    ("body", "items"),
    [
        ("return torch.stack([row.sum() * 2 for row in x]).sum()", "20"),
        ("return sum(x[:, j].sum() * x[0, j] for j in range(x.shape[1]))", "30"),
        ("return sum(x[i, j] for i in range(20) for j in range(30)) if len(x) == 20 else x.sum()", "600"),
        ("return sum(x[i // 10] for i in range(190)).sum() if len(x) == 20 else x.sum()", ""),  # of no size
    ],
)
def test_what_a_loop_goes_over_is_seen_by_the_sizes(function: Function, body: str, items: str) -> None:
    """Each operator in it runs a few times for each row, column or element."""
    failed = failure(assert_no_loop, one(function, body), (torch.rand(2, 3),), (torch.rand(20, 30),))
    found = re.search(r"large input  .*\)(?:, as in a loop over (\d+) items)?$", failed.story, re.MULTILINE)
    assert found is not None
    assert (found[1] or "") == items


LOOPS = {
    "for over a list": "t = 0.0\nfor v in x.tolist(): t += v * v\nreturn torch.tensor(t)",
    "while with an index": (
        "values, t, k = x.tolist(), 0.0, 0\nwhile k < len(values):\n    t += values[k] ** 2\n    k += 1\n"
        "return torch.tensor(t)"
    ),
    "a comprehension": "return torch.tensor(sum([v * v for v in x.tolist()]))",
    "a generator": "return torch.tensor(sum(v * v for v in x.tolist()))",
    "map": "return torch.tensor(sum(map(lambda v: v * v, x.tolist())))",
    "recursion": (
        "def go(values):\n    half = len(values) // 2\n"
        "    return go(values[:half]) + go(values[half:]) if half else sum(v * v for v in values)\n"
        "return torch.tensor(go(x.tolist()))"
    ),
    "np.vectorize": ("import numpy as np\nreturn torch.tensor(float(np.vectorize(lambda v: v * v)(x.numpy()).sum()))"),
}


@pytest.mark.parametrize("form", LOOPS)
def test_a_loop_over_plain_numbers_is_found_by_lines(function: Function, form: str) -> None:
    """It runs no operator more, but lines of the student's own; the message says which, and how often."""
    few, many = (torch.arange(30.0),), (torch.arange(300.0),)
    failed = failure(assert_no_loop, one(function, LOOPS[form]), few, many)
    assert failed.public == "`total` runs more lines of Python for a larger input"
    assert re.search(r"large input  [\d,]+ lines \(work\.py, line \d+: [\d,]+ times", failed.story)


@pytest.mark.parametrize(
    "body",
    [
        "return torch.tensor(sum(x.tolist()))",
        "return torch.tensor(sorted(x.tolist())[-1])",
        "import numpy as np\nreturn torch.from_numpy(np.square(x.numpy()))",
        "k = 1\nwhile k < len(x): k *= 2\nreturn x.sum() * k",
        "return sum(x.sum() for _ in range(5))",
    ],
)
def test_what_loops_in_c_is_not_a_loop_of_lines(function: Function, body: str) -> None:
    """Nor are a loop over powers of two, and one of a fixed length."""
    assert_no_loop(one(function, body), (torch.arange(30.0),), (torch.arange(30_000.0),))


COUNTS = {
    **dict.fromkeys(("bytes", "peak", "transfers", "transferred", "syncs", "sent", "versions", "moment_count"), 0),
    **{name: {} for name in ("ops", "escapes", "collectives", "lines")},
    "line_count": 0,
    "moments": [],
}


@pytest.mark.parametrize(
    "change",
    [
        {"bytes": -1},
        {"ops": {"sum": 1.5}},
        {"ops": [1]},
        {"lines": {"work.py, line 3": -1}},
        {"line_count": 1.5},
        {"versions": "many"},
        {"peak": True},
        {"syncs": 2**70},
        {"sent": None},
    ],
)
def test_made_up_counts_are_refused(change: dict[str, Any]) -> None:
    """A count is a whole number that is not negative."""
    assert _decoded_counts(COUNTS, None) is not None
    assert _decoded_counts({**COUNTS, **change}, None) is None


def test_moments_of_another_form_are_left_out() -> None:
    """Time goes forward, and ends."""
    rows = [["mm", "host", start, end, 0, "", 0, [[2, 3]]] for start, end in ((0.0, 1.0), (2.0, 1.0), (0.0, math.inf))]
    (moment,) = moments_of([*rows, "mm", ["mm"]], 9)
    assert moment == Moment("mm", "host", 0.0, 1.0, shapes=((2, 3),))


# -- memory -------------------------------------------------------------------------------------------------------


def test_bytes_of_new_storages(function: Function) -> None:
    """New storages are counted once each; views, arguments and work in place are none."""
    assert count_costs(one(function, "return (x + 1)[:10].view(2, 5)"), X).bytes == 400
    assert count_costs(one(function, "return x[:10].view(2, 5).t()"), X).bytes == 0
    assert count_costs(one(function, "return x.add_(1)"), X).bytes == 0
    assert count_costs(one(function, "y = torch.empty(10)\nreturn y.resize_(30)"), X).bytes == 120
    total = one(function, "return [x + 1 for _ in range(3)]")
    assert_costs_at_most(total, (X,), bytes=1200)
    assert connection_of(total).record.counters == {"bytes": 1200}


def test_the_peak_is_what_lives_at_a_time(function: Function) -> None:
    """Memory that was given back does not count for the peak."""
    in_turn = one(function, "for _ in range(5):\n    y = x + 1\n    del y\nreturn x")
    assert (count_costs(in_turn, X).bytes, count_costs(in_turn, X).peak) == (2000, 400)
    assert count_costs(one(function, "return torch.cat([x + 1 for _ in range(5)])"), X).peak == 4000
    # A tensor on the memory of an array that was given needs no new memory, also on a part of it.
    assert count_costs(one(function, "return torch.from_numpy(x)"), X.numpy()).bytes == 0
    assert count_costs(one(function, "return torch.from_numpy(x[3:5])"), X.numpy()).bytes == 0
    assert count_costs(one(function, "return torch.from_numpy(x.copy())"), X.numpy()).bytes == 400


def test_no_new_storage(function: Function) -> None:
    """A copy where a view is asked is told as what it is."""
    assert_no_new_storage(one(function, "return x[2:4]"), X)
    failed = failure(assert_no_new_storage, one(function, "return x[2:4].clone()"), X)
    assert failed.public == "`total` makes new memory"
    assert "expected at most 0, got 8" in failed.story


# -- devices, collectives, writes ---------------------------------------------------------------------------------


def test_copies_between_devices(function: Function) -> None:
    """A copy is counted where the device changes, and only there."""
    moves = one(function, "y = x.to('meta')\nz = y.to('meta')\nz.copy_(x)\nreturn x.to('cpu')")
    counts = count_costs(moves, X)
    assert (counts.transfers, counts.transferred) == (2, 800)
    assert "copies more than once between devices" in failure(assert_costs_at_most, moves, (X,), transfers=1).public
    assert connection_of(moves).record.counters == {"transfers": 2}


def test_copies_and_waits_of_an_accelerator(function: Function) -> None:
    """Copies and waits of a simulated accelerator, also those that run no operator, such as the one of `tolist`."""
    body = "y = x.to('sim')\nz = y.to('sim:1')\nz.sum().item()\nz.tolist()\nreturn z.cpu()"
    moves = one(function, body, device="sim")
    counts = count_costs(moves, X)
    assert (counts.transfers, counts.transferred, counts.syncs) == (4, 1600, 4)
    failed = failure(assert_costs_at_most, moves, (X,), transfers=4, syncs=1)
    assert "waits more than once for a device" in failed.public
    counted, axis, *drawn = failed.story.splitlines()[1:]
    assert counted == "expected at most 1, got 4"
    assert axis.strip().startswith("|0 ")
    names = ["host: launch host to device", "GPU 0: host to device", "host: wait for copy"]
    assert [row[:28].rstrip() for row in drawn[:3]] == names
    assert "more follow" in drawn[-1]
    assert connection_of(moves).record.counters == {"transfers": 4, "syncs": 4}


RANKS = """
import torch.distributed as dist
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
"""


def test_collectives_and_their_bytes(function: Function) -> None:
    """Collectives are counted by name, with the bytes that this rank hands over."""
    body = "dist.all_reduce(x)\nouts = [x.new_empty(50)]\ndist.all_gather(outs, x[:50])\nreturn x"
    total = one(function, body, RANKS, processes=8)  # with 1, a worker has no sockets
    counts = count_costs(total, X)
    assert counts.collectives == {"allreduce": 1, "allgather": 1}
    assert counts.sent == 400 + 200
    assert "calls more than 1 collective" in failure(assert_costs_at_most, total, (X,), collectives=1).public
    assert "passes more than 500 bytes to collectives" in failure(assert_costs_at_most, total, (X,), sent=500).public


def test_writes_in_place(function: Function) -> None:
    """In-place changes of arguments are counted, through views too."""
    assert count_costs(one(function, "x[:3].zero_()\nx += 1\nreturn x"), X).versions == 2
    writes = one(function, "x.sub_(1).add_(1)\nreturn x")
    assert "writes into its arguments" in failure(assert_costs_at_most, writes, (X,), versions=0).public
    # What counts is the tensors that were given, also where the call puts new ones into the dict that held them.
    batch = {"x": X.clone().add_(1)}
    assert count_costs(one(function, "x['x'].zero_()\nx['x'] = torch.ones(2)\nreturn x"), batch).versions == 1
    # Writing through NumPy raises no version; the numbers that come back tell it.
    x = X.clone()
    with pytest.raises(CheckFailed, match="was changed"), assert_unchanged(x):
        assert_costs_at_most(one(function, "x.numpy()[0] = 7.0\nreturn x.sum()"), (x,), versions=0)


# -- ways out, garbage, warnings ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("return torch.tensor(sum(x.tolist()))", "tolist"),
        ("return torch.tensor(x.numpy().sum())", "numpy"),
        ("import numpy\nreturn torch.tensor(numpy.asarray(x).sum())", "numpy"),
        ("return torch.tensor(x.sum().item())", "item"),
        ("return torch.tensor(float(x.sum()))", "float"),
        ("import numpy\nreturn torch.from_numpy(numpy.from_dlpack(x).copy())", "dlpack"),
        ("x.data_ptr()\nreturn x.sum()", "data_ptr"),
        ("return torch.tensor(bytes(x.untyped_storage())[0])", "storage"),
    ],
)
def test_ways_out_are_named(function: Function, body: str, name: str) -> None:
    """A way out of PyTorch is found by name."""
    public = failure(assert_stays_in_torch, one(function, body), X).public
    assert re.match(f".*takes numbers out of PyTorch .*`{name}`", public)


def test_staying_in_torch(function: Function) -> None:
    """Masks, conditions and shapes are no way out; numbers that leave by no name known here lose the gradient."""
    assert_stays_in_torch(one(function, "if x.shape[0] > 3:\n    x = x[x > 0]\nreturn x.square().sum()"), X)
    assert (
        "has no gradient"
        in failure(assert_stays_in_torch, one(function, "return torch.tensor(len(x) * 1.0)"), X).public
    )


def test_uninitialised_memory_holds_nan(function: Function) -> None:
    """A sum into `empty` that passes by luck fails on poisoned memory; a right one does not."""
    lucky = "y = torch.empty_like(x)\nfor k in range(len(x)):\n    y[k] += x[k]\nreturn y"
    assert call_with_poisoned_memory(one(function, lucky), X).isnan().all()
    assert_values(call_with_poisoned_memory(one(function, lucky.replace("empty", "zeros")), X), X)
    assert (
        call_with_poisoned_memory(one(function, "return torch.empty(3, dtype=torch.int32)"), X).tolist()
        == [2**31 - 1] * 3
    )


def test_warnings_are_found(function: Function) -> None:
    """PyTorch's own warnings and others fail, and silencing them, for good or for a moment, fixes nothing."""
    assert float(assert_no_warnings(one(function, "return x.sum()"), X)) == float(X.sum())
    for body in ("return x.view(2, 5, 10).T", "import warnings\nwarnings.warn('old')\nreturn x"):
        assert "causes a warning" in failure(assert_no_warnings, one(function, body), X).public
    warn = "warnings.warn('old')\nreturn x"
    for body in (f"warnings.simplefilter('ignore')\n{warn}", f"with warnings.catch_warnings(action='ignore'): {warn}"):
        silent = one(function, body.replace(": warnings", ":\n    warnings"), "import warnings")
        assert "silences warnings" in failure(assert_no_warnings, silent, X).public
    # Words of a comment or a text silence nothing.
    says = '"""Never simplefilter here."""\nreturn x + len("catch_warnings")  # nor filterwarnings'
    assert assert_no_warnings(one(function, says), X).shape == X.shape


def test_the_reference_can_be_counted(function: Function) -> None:
    """Its arguments are those of the student's call, as they were before."""
    mine, theirs = one(function, "return x.zero_()"), one(function, "return (x + 1).sum()")
    connection_of(theirs).student = connection_of(mine)
    x = X.clone()
    count_costs(mine, x)
    counts = count_costs(theirs, x)
    assert counts.ops == {"add": 1, "sum": 1}
    assert float(counts.result) == float((X + 1).sum())
    # A check that asks for a count that does not exist is at fault.
    with pytest.raises(ValueError, match="unknown count operations"):
        assert_costs_at_most(mine, (), operations=3)


# -- several ranks ----------------------------------------------------------------------------------------------------


SHARDS = [[torch.tensor([1.0, 2.0])], [torch.tensor([4.0])], [torch.tensor([])]]


def ranked(function: Function, body: str) -> Proxy:
    return one(function, body, "import os\nimport torch.distributed as dist", processes=32)


def test_ranks_talk(function: Function) -> None:
    """Each rank has its number and its own shard, and all of them the sum; collectives are counted with their bytes."""
    body = "t = x.sum()\ndist.all_reduce(t)\nreturn [t, dist.get_rank(), int(os.environ['WORLD_SIZE'])]"
    found = run_on_ranks(ranked(function, body), SHARDS)
    assert [rank.result for rank in found] == [[7.0, 0, 3], [7.0, 1, 3], [7.0, 2, 3]]
    assert [(dict(rank.collectives), rank.sent, rank.changed) for rank in found] == [({"allreduce": 1}, 4, False)] * 3
    # A collective that reduces the argument itself changes it.
    found = run_on_ranks(ranked(function, "dist.all_reduce(x)\nreturn x.sum()"), [[torch.ones(2)], [torch.ones(2)]])
    assert [rank.changed for rank in found] == [True, True]
    assert [rank.result for rank in run_on_ranks(ranked(function, "return None"), SHARDS)] == [None] * 3
    assert [rank.result for rank in run_on_ranks(ranked(function, "return x.numpy()"), SHARDS[:1])] == ["<ndarray>"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("if dist.get_rank() == 1: raise ValueError('no score')\ndist.barrier()", "rank 1 raised ValueError: no score"),
        ("if dist.get_rank() == 1: os._exit(1)\ndist.barrier()", "the process of rank 1 of 3 ended before"),
        ("if dist.get_rank() == 1: dist.barrier()", "rank 1 of 3 waits in a collective"),
    ],
    ids=["raises", "dies", "waits"],
)
def test_what_goes_wrong_is_reported_as_its_cause(function: Function, body: str, told: str) -> None:
    """One rank that raises, dies, or waits alone ends the call for all, and is named."""
    assert told in failure(run_on_ranks, ranked(function, body), SHARDS).story


def test_limits_must_allow_ranks(function: Function) -> None:
    """Where the exercise forgot the limit, its author is told and not the student."""
    with pytest.raises(ValueError, match="3 ranks need `limits: processes: 24`"):
        run_on_ranks(function("def total(x): return x"), SHARDS)


def test_a_deadlock_is_waited_for_once(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later checks of the function end at once, with the same words; another function runs."""
    body = "y = torch.zeros(())\ndist.recv(y, 1 - dist.get_rank())\ndist.send(y, 1 - dist.get_rank())"
    hangs = ranked(function, body)
    first = failure(run_on_ranks, hangs, SHARDS[:2])
    calls: list[object] = []
    monkeypatch.setattr("grader.check.costs.call_builtin_probe", lambda *args: calls.append(args))
    second = failure(run_on_ranks, hangs, SHARDS)
    assert calls == []
    assert (first.about, second.about) == ("raised", "raised")
    assert first.story.split("\n")[0] == second.story == first.public
