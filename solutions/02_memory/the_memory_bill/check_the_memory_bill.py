import math
import sys

import torch

from grader.check import (
    assert_close,
    assert_costs_at_most,
    assert_does_not_mutate,
    assert_peak_memory_ratio,
    assert_shares_no_memory,
    assert_true,
    assert_values,
    check,
)

DTYPES = (torch.float32, torch.float64, torch.int16, torch.uint8, torch.bool, torch.complex64)
SLICE = "compact(torch.arange(1000.0)[::3])"


@check("C1", share=3, try_this="boxed_bytes([0.1, 0.2, 0.3]), and sys.getsizeof([0.1, 0.2, 0.3])")
def check_boxed(student, probe, rng):
    """The bytes of random lists"""
    for size in (0, 1, rng.integer(50, 200)):
        xs = rng.normal(size, dtype=torch.float64).tolist()
        # A copy has no spare room; how much a list has depends on how it was made.
        asked = sys.getsizeof(list(xs)) + sum(sys.getsizeof(x) for x in xs)
        found = student.boxed_bytes(xs)
        spare = 8 * (size // 4 + 16)
        assert_true(isinstance(found, int), "the bytes of a list are a whole number")
        assert_true(asked <= found <= asked + spare, "the bytes of a list are not those of the list and its floats")
    grown = []
    for x in rng.normal(100, dtype=torch.float64).tolist():
        grown.append(x)  # a list grows in the same steps in every process of one Python
        if len(grown) > 90:
            asked = sys.getsizeof(grown) + sum(sys.getsizeof(each) for each in grown)
            found = probe.of_a_grown_list(student.boxed_bytes, grown)
            assert_true(
                found == asked, "the bytes of a list that grew by append are not those of the list and its floats"
            )


@check("C2", share=2, try_this="tensor_bytes((5, 2, 3), torch.int16)")
def check_tensor(student, rng):
    """The bytes of random shapes and dtypes"""
    for dtype in DTYPES:
        shape = rng.integers(2, 9, rng.integer(1, 4))
        assert_values(student.tensor_bytes(shape, dtype), math.prod(shape) * dtype.itemsize, "the number of bytes")


@check("C2", share=1, try_this="tensor_bytes((), torch.float32), and tensor_bytes((3, 0), torch.float32)")
def check_tensor_edges(student):
    """One element of no dims, and no element at all"""
    assert_values(student.tensor_bytes((), torch.float64), 8, "the number of bytes of a 0-dim tensor")
    assert_values(student.tensor_bytes((4, 0, 2), torch.float64), 0, "the number of bytes of an empty tensor")


@check("C2", category="performance", share=1, try_this="tensor_bytes((10**6, 10**6, 10**6), torch.float32)")
def check_makes_no_tensor(student, reference, rng):
    """Makes no tensor"""
    edge = rng.integer(10**6, 10**7)
    assert_values(student.tensor_bytes((edge, edge, 3), torch.float64), 24 * edge * edge, "the size of a huge tensor")
    more = edge**2, edge**2, 10  # elements than PyTorch can count
    found = student.tensor_bytes(more, torch.int16)
    assert_true(found == 20 * edge**4, "the bytes of a shape with more than 2 ** 63 elements are wrong")
    assert_costs_at_most(student.tensor_bytes, ((1000, 300), torch.float32), bytes=1000)
    square = lambda n: ((n, n), torch.float32)  # noqa: E731
    assert_peak_memory_ratio(student.tensor_bytes, reference.tensor_bytes, square, size=9_000, at_most=1)


@check("C3", share=2, try_this="t = torch.zeros(100); held_bytes(t[50:]), and held_bytes(t.view(10, 10)[0])")
def check_held(student, rng):
    """The bytes of the storage behind views"""
    for dtype in DTYPES[:4]:
        base = rng.whole(0, 9, rng.integer(20, 40), 6, dtype=dtype)
        asked = base.numel() * dtype.itemsize
        for t in (base, base[3:, 2], base.t()[1:, ::5], base[2, 3]):
            assert_values(student.held_bytes(t), asked, "the number of bytes that a tensor holds")
    assert_values(
        student.held_bytes(torch.zeros(3).expand(50, 3)), 12, "the number of bytes that an expanded tensor holds"
    )


@check("C4", category="memory", share=3, try_this=SLICE)
def check_compact(student, rng):
    """Copies what holds too much"""
    wide = 9 * rng.normal(rng.integer(30, 50), 8, dtype=torch.float64)
    base, narrow, halves = wide.float(), wide.to(torch.int16), wide.bfloat16()
    for t in (wide[:4], wide[:, 1:3], base[::3].t(), base[5, 5], narrow[3:5], halves[:3]):
        yours = assert_does_not_mutate(student.compact, t, what="t", requiring=False)
        assert_close(yours, t, "the copy")
        assert_shares_no_memory(yours, t, "the result for a small part of a storage", "t")
        spare = yours.untyped_storage().nbytes() - t.numel() * t.itemsize
        assert_true(spare == 0, "the copy's storage has spare bytes")


@check("C4", category="memory", share=4, try_this="t = torch.zeros(10); compact(t[:5]) is t[:5], and compact(t) is t")
def check_compact_keeps(student, rng):
    """Gives back what fills at least half of its storage"""
    base = rng.normal(2 * rng.integer(6, 20), 5)
    half = len(base) // 2
    for t in (base, base[:half], base.t(), base[1:], base[:1].expand(90, 5), torch.empty(0)):
        assert_true(student.compact(t) is t, "the result is not t itself, though t fills at least half of its storage")
    odd = rng.whole(0, 99, 2 * rng.integer(2, 9) + 1, dtype=torch.uint8)
    for small in (base[: half - 1], odd[: len(odd) // 2]):
        assert_true(student.compact(small) is not small, "the result is t itself, though t fills less than half")
