import math

import pytest
import torch

from grader.check import (
    assert_cpu_time_ratio,
    assert_dtype,
    assert_no_loop,
    assert_shares_no_memory,
    assert_true,
    assert_unchanged,
    assert_values,
    check,
)

NAMES = ["interleave", "columns", "collate", "collect"]
TURNS = "interleave(torch.tensor([1.0]), torch.tensor([2.0])), interleave(torch.zeros(0), torch.zeros(0)).shape"
COLUMNS = "columns([torch.tensor([1, 2])]), columns([torch.zeros(0), torch.zeros(0)]).shape"
BATCH = "collate([torch.tensor([1.0]), torch.tensor([]), torch.tensor([2.0, 3.0])], -1.0)"
MASK = "collate([torch.tensor([7, 7]), torch.tensor([7])], 7)[1], collate([torch.tensor([])], 0)[1].shape"
PARTS = "collect([torch.ones(2, 3), torch.zeros(0, 3), torch.ones(1, 3)]), collect([torch.ones(2)])"
OWN = "v = torch.ones(2); columns([v]).fill_(7.0); collect([v]).fill_(7.0); print(v)"
TYPES = "collate([torch.tensor([1, 2])], 0)[0].dtype, interleave(torch.ones(1).double(), torch.ones(1).double()).dtype"


def vector(rng, length, dtype=torch.int64):
    """Whole numbers from 1 on, in a window with gaps."""
    return rng.whole(1, 99, 2 * length, dtype=dtype)[::2]


def pair(result):
    right = isinstance(result, (tuple, list)) and len(result) == 2
    assert_true(right, "the result of `collate` is not a tuple of two tensors")
    return result


def arguments(name, items):
    return {"interleave": (items[0], items[-1]), "collate": (items, 0)}.get(name, (items,))


@check("C1", share=2, try_this=TURNS)
def check_interleave(student, rng):
    """Interleaves many numbers, one and none"""
    for length in (rng.integer(3, 8), 1, 0):
        a, b = vector(rng, length), vector(rng, length)
        expected = [number for both in zip(a.tolist(), b.tolist(), strict=True) for number in both]
        assert_values(student.interleave(a, b), torch.tensor(expected, dtype=torch.int64), "the result of `interleave`")


@check("C2", category="shape", share=2, try_this=COLUMNS)
def check_columns(student, rng):
    """Makes columns of many vectors and of one, as many as they are long, and empty ones"""
    n, m = rng.sizes(2)
    for count, length in ((m, n), (1, n), (n, n), (m, 0), (m, 1)):
        vectors = [vector(rng, length) for _ in range(count)]
        expected = torch.stack(vectors, 1)
        assert_values(student.columns(vectors), expected, "the result of `columns`")


def sequences(rng):
    """Lists of sequences, the longest of them in any place, and what fills their rows."""
    a, b, c = rng.sizes(3)
    for lengths, fill in (((a, b, c), 0), ((0, c, a, 1), -7), ((b, b), 3), ((a,), 0), ((0, 0), 5), ((1, a, 0), 2)):
        yield [vector(rng, length) for length in lengths], fill


def padded(items, fill):
    rows = [item.tolist() + [fill] * (max(map(len, items)) - len(item)) for item in items]
    return torch.tensor(rows, dtype=items[0].dtype)


@check("C3", share=3, try_this=BATCH)
def check_batch(student, rng):
    """Pads sequences of all lengths, with any number"""
    for items, fill in sequences(rng):
        expected = padded(items, fill)
        assert_values(pair(student.collate(items, fill))[0], expected, "the batch")
    # float32 rounds these.
    tenths = [rng.whole(1, 9, length, dtype=torch.float64) / 10 for length in (3, 1)]
    for items, fill, case in ((tenths, 0.1, "float64 numbers"), ([vector(rng, 2), vector(rng, 1)], 2**24 + 1, "ints")):
        batch = pair(student.collate(items, fill))[0]
        assert_values(batch, padded(items, fill), f"the batch, of {case} with more digits,", rtol=0.0, atol=0.0)


@check("C3", category="dtype", share=1, try_this="collate([torch.tensor([1, 2]), torch.tensor([3])], 2**53 + 1)[0]")
def check_large_fill(student):
    """Pads with a fill that no float holds"""
    items, fill = [torch.tensor([3, 4]), torch.tensor([5])], 2**53 + 1
    assert_values(pair(student.collate(items, fill))[0], padded(items, fill), "the batch, with a large fill,")


@check("C4", share=2, try_this=MASK)
def check_mask(student, rng):
    """Says where sequences are, also where they hold the fill"""
    for items, _ in (*sequences(rng), ([torch.tensor([math.nan, 1.0]), torch.tensor([2.0])], math.nan)):
        expected = padded([torch.ones_like(item, dtype=torch.bool) for item in items], fill=False)
        fill = items[0].tolist()[0] if len(items[0]) else 0  # so that a sequence holds it
        assert_values(pair(student.collate(items, fill))[1], expected, "the mask")


@check("C5", share=2, try_this=PARTS)
def check_collect(student, rng):
    """Joins parts of several lengths, of 1 to 3 dims, also empty ones"""
    a, b = rng.sizes(2)
    lists = [[rng.normal(length, *shape) for length in (2, 0, 3, 1)] for shape in ((), (a,), (a, b))]
    for parts in (*lists, [torch.zeros(0, a), torch.zeros(0, a)], [rng.normal(a, b).T]):
        expected = torch.cat(parts)
        assert_values(student.collect(parts), expected, "the result of `collect`")


@check("C5", category="performance", share=2, try_this="count how often collect copies the first of 200 parts")
def check_copies_once(student, reference, rng):
    """Copies each part once"""
    inputs = lambda n: ([rng.uniform(10_000) for _ in range(n)],)  # noqa: E731
    assert_cpu_time_ratio(student.collect, reference.collect, inputs, size=400, at_most=8)


@check("C6", category="memory", share=1, try_this=OWN)
@pytest.mark.parametrize("name", NAMES)
def check_own_memory(student, rng, name):
    """Copies the arguments, which stay as they are"""
    for count in (1, 3):
        items = [vector(rng, 4) for _ in range(count)]
        given = list(items)
        with assert_unchanged(*items, what=f"a tensor that `{name}` was given"):
            yours = getattr(student, name)(*arguments(name, items))
        same_items = len(items) == count and all(one is other for one, other in zip(items, given, strict=True))
        assert_true(same_items, f"the list that `{name}` was given has other items afterwards")
        for result in pair(yours) if name == "collate" else (yours,):
            assert_shares_no_memory(result, items[0], f"the result of `{name}`", "an argument")


@check("C6", category="dtype", share=1, try_this=TYPES)
@pytest.mark.parametrize("name", NAMES)
def check_dtype(student, rng, name):
    """Keeps dtypes, and numbers that float32 rounds"""
    large, seventh = 2**53 + 1 + 2 * rng.whole(1, 99, 1), rng.whole(1, 6, 1, dtype=torch.float64) / 7
    vectors = [vector(rng, 3, dtype) for dtype in (torch.float64, torch.int32, torch.float16)]
    for items in (*([x, x] for x in vectors), [seventh], [large]):
        result = getattr(student, name)(*arguments(name, items))
        numbers = pair(result)[0] if name == "collate" else result
        assert_dtype(numbers, items[0].dtype, f"the result of `{name}`")
        if len(items) == 1:
            what, expected = f"the result of `{name}` for one {items[0].dtype} number", items[0].expand(numbers.numel())
            assert_values(numbers.flatten(), expected, what, rtol=0.0, atol=0.0)


@check("C7", category="performance", share=1, try_this="look for a `for` over elements")
def check_no_loop(student, rng):
    """interleave has no loop over elements"""
    for many in (400, 100_000):  # the smaller one counts operations, the larger one takes time without any
        assert_no_loop(student.interleave, (vector(rng, 4), vector(rng, 4)), (vector(rng, many), vector(rng, many)))
