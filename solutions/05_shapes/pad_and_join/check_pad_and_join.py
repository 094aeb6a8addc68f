import math

import pytest
import torch

from grader.check import (
    agrees,
    as_fast_as,
    check,
    is_tensor,
    no_loop,
    require,
    same_dtype,
    same_shape,
    same_values,
    shares_nothing,
    unchanged,
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
    require(right, "the result of `collate` is not a tuple of two tensors")
    return result


def has_values(yours, expected, what):
    is_tensor(yours, what)
    same_shape(yours, expected, what)
    same_values(yours, expected, what)


@check("C1", share=2, try_this=TURNS)
def check_interleave(student, rng):
    """Interleaves many numbers, one and none"""
    for length in (rng.integer(3, 8), 1, 0):
        a, b = vector(rng, length), vector(rng, length)
        expected = [number for both in zip(a.tolist(), b.tolist(), strict=True) for number in both]
        has_values(student.interleave(a, b), torch.tensor(expected, dtype=torch.int64), "the result of `interleave`")


@check("C2", category="shape", share=2, try_this=COLUMNS)
def check_columns(student, rng):
    """Makes columns of many vectors and of one, as many as they are long, and empty ones"""
    n, m, _ = rng.sizes(3)
    for count, length in ((m, n), (1, n), (n, n), (m, 0), (m, 1)):
        vectors = [vector(rng, length) for _ in range(count)]
        rows = [[one.tolist()[row] for one in vectors] for row in range(length)]
        expected = torch.tensor(rows, dtype=torch.int64).reshape(length, count)
        has_values(student.columns(vectors), expected, "the result of `columns`")


def sequences(rng):
    """Lists of sequences, the longest of them in any place, and what fills their rows."""
    a, b, c = rng.sizes(3)
    for lengths, fill in (((a, b, c), 0), ((0, c, a, 1), -7), ((b, b), 3), ((a,), 0), ((0, 0), 5), ((1, a, 0), 2)):
        yield [vector(rng, length) for length in lengths], fill


@check("C3", share=3, try_this=BATCH)
def check_batch(student, rng):
    """Pads sequences of all lengths, with any number"""
    for items, fill in sequences(rng):
        longest = max(map(len, items))
        rows = [item.tolist() + [fill] * (longest - len(item)) for item in items]
        expected = torch.tensor(rows, dtype=torch.int64).reshape(len(items), longest)
        has_values(pair(student.collate(items, fill))[0], expected, "the batch")


@check("C3", category="dtype", share=1, try_this="collate([torch.tensor([1, 2]), torch.tensor([3])], 2**53 + 1)[0]")
def check_large_fill(student):
    """Pads with a fill that no float holds"""
    large = 2**53 + 1
    batch = pair(student.collate([torch.tensor([3, 4]), torch.tensor([5])], large))[0]
    if agrees(batch.double(), torch.tensor([[3, 4], [5, large]]).double()):  # other numbers are for other checks
        require(batch.tolist() == [[3, 4], [5, large]], "the batch has a large fill rounded to a float")


@check("C4", share=2, try_this=MASK)
def check_mask(student, rng):
    """Says where sequences are, also where they hold the fill"""
    for items, _ in sequences(rng):
        longest = max(map(len, items))
        rows = [[True] * len(item) + [False] * (longest - len(item)) for item in items]
        expected = torch.tensor(rows, dtype=torch.bool).reshape(len(items), longest)
        fill = items[0].tolist()[0] if len(items[0]) else 0  # so that a sequence holds it
        has_values(pair(student.collate(items, fill))[1], expected, "the mask")
    items = [torch.tensor([math.nan, 1.0]), torch.tensor([2.0])]
    expected = torch.tensor([[True, True], [True, False]])
    has_values(pair(student.collate(items, math.nan))[1], expected, "the mask")


@check("C4", category="dtype", share=1, try_this="collate([torch.tensor([7, 7])], 0)[1].dtype")
def check_mask_is_bool(student, rng):
    """Gives a bool mask"""
    for dtype in (torch.int64, torch.float32):
        same_dtype(pair(student.collate([vector(rng, 3, dtype), vector(rng, 2, dtype)], 0))[1], torch.bool, "the mask")


@check("C5", share=2, try_this=PARTS)
def check_collect(student, rng):
    """Joins parts of several lengths, of 1 to 3 dims, also empty ones"""
    a, b, _ = rng.sizes(3)
    for shape in ((), (a,), (a, b)):
        parts = [rng.normal(length, *shape) for length in (2, 0, 3, 1)]
        rows = [row for part in parts for row in part.unbind()]
        expected = torch.zeros(6, *shape)
        for place, row in enumerate(rows):
            expected[place] = row
        has_values(student.collect(parts), expected, "the result of `collect`")
    none = [torch.zeros(0, a), torch.zeros(0, a)]
    has_values(student.collect(none), torch.zeros(0, a), "the result of `collect`")
    one = rng.normal(a, b).T
    has_values(student.collect([one]), one.clone(), "the result of `collect`")


@check("C6", category="memory", share=1, try_this=OWN)
@pytest.mark.parametrize("name", NAMES)
def check_own_memory(student, rng, name):
    """Copies the arguments, which stay as they are"""
    for count in (1, 3):
        items = [vector(rng, 4) for _ in range(count)]
        arguments = {"interleave": (items[0], items[-1]), "collate": (items, 0)}.get(name, (items,))
        given = list(items)
        what = "a or b" if name == "interleave" else f"a tensor in the list that `{name}` was given"
        with unchanged(*items, what=what):
            yours = getattr(student, name)(*arguments)
        text = f"the list that `{name}` was given has other items afterwards"
        require(len(items) == count and all(one is other for one, other in zip(items, given, strict=True)), text)
        for result in pair(yours) if name == "collate" else (yours,):
            is_tensor(result, f"the result of `{name}`")
            shares_nothing(result, items[0], f"the result of `{name}`", "an argument")


@check("C5", category="performance", share=2, try_this="count how often collect copies the first of 200 parts")
def check_copies_once(student, reference, rng):
    """Copies each part once"""
    parts = lambda n: ([rng.uniform(10_000) for _ in range(n)],)  # noqa: E731
    as_fast_as(student.collect, reference.collect, parts, size=400, at_most=8)


@check("C6", category="dtype", share=1, try_this=TYPES)
@pytest.mark.parametrize("name", NAMES)
def check_dtype(student, rng, name):
    """Keeps dtypes"""
    for dtype in (torch.float64, torch.int32, torch.float16):
        items = [vector(rng, length, dtype) for length in (3, 3)]
        arguments = {"interleave": items, "collate": (items, 0)}.get(name, (items,))
        result = getattr(student, name)(*arguments)
        same_dtype(pair(result)[0] if name == "collate" else result, dtype, f"the result of `{name}`")
    large = 2**53 + 1 + 2 * rng.whole(1, 99, 1)  # floats round it
    arguments = {"interleave": (large, large), "collate": ([large], 0)}.get(name, ([large],))
    result = getattr(student, name)(*arguments)
    numbers = (pair(result)[0] if name == "collate" else result).flatten()
    if agrees(numbers.double(), large.double().expand(numbers.shape)):  # other numbers are for other rules
        require(bool((numbers == large).all()), f"`{name}` rounds large ints on the way")


@check("C7", category="performance", share=1, try_this="look for a `for` over elements")
def check_no_loop(student, rng):
    """interleave has no loop over elements"""
    for many in (400, 100_000):  # the smaller one counts operations, the larger one takes time without any
        no_loop(student.interleave, (vector(rng, 4), vector(rng, 4)), (vector(rng, many), vector(rng, many)))
