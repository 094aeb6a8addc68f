from contextlib import suppress

import torch

from grader.check import after_call, assert_no_warnings, assert_true, assert_unchanged, assert_values, check, raises

VIEW = "storage_numbers(torch.arange(12.0).reshape(3, 4)[1:, ::2])"
DTYPES = (torch.float32, torch.float64, torch.int16, torch.uint8, torch.int64, torch.float16, torch.bfloat16)


def base_and_views(rng, dtype=torch.float32):
    """A storage, and views of it: sliced, stepped, transposed, one number, none."""
    base = torch.randint(0, 100, (rng.integer(3, 5), 6), generator=rng).to(dtype)
    return base, (base[1:, ::2], base.t()[2:], base[2, 3], base[:, :0], base)


@check("C1", share=3, try_this=VIEW)
def check_views(student, rng):
    """All numbers behind views of every kind"""
    base, views = base_and_views(rng)
    for t in views:
        assert_values(student.storage_numbers(t), base.flatten().tolist(), "the list")


@check("C1", category="dtype", share=3, try_this="storage_numbers(torch.tensor([1, 300], dtype=torch.int16))")
def check_dtypes(student, rng):
    """Numbers of every dtype, as floats or ints"""
    for dtype in DTYPES:
        base, _ = base_and_views(rng, dtype)
        if dtype == torch.int64:
            base += 2**53 + 1  # a float rounds such numbers
        numbers = student.storage_numbers(base)
        assert_values(numbers, base.flatten().tolist(), f"the list for {str(dtype).removeprefix('torch.')}")
        of = float if dtype.is_floating_point else int
        assert_true(
            all(type(number) is of for number in numbers), f"expected {of.__name__}s in the list, got another type"
        )


@check("C2", category="memory", share=3, try_this="t = torch.zeros(2, 3)[1]; poke_(t, 0, 1.0); print(t._base)")
def check_poke(student, rng):
    """Writes one number, wherever it is"""
    exact = (torch.float64, 101.1), (torch.int64, 2**53 + 1)  # float32 rounds the one, any float the other
    for dtype, number in ((torch.float32, 101.5), (torch.int16, 101), (torch.bfloat16, 101.5), *exact):
        base, views = base_and_views(rng, dtype)
        last = base.numel() - 1
        for t, place in zip(views, (0, last, *(rng.integer(1, last - 1) for _ in views)), strict=False):
            asked = base.clone()
            asked.view(-1)[place] = number
            yours = student.poke_(t, place, number)
            assert_values(after_call(base).flatten(), asked.flatten(), "the storage", rtol=0.0, atol=0.0)
            assert_true(yours is t, "`poke_` does not return t")


@check("C3", category="error", share=2, try_this="poke_(torch.zeros(3), -1, 1.0)")
def check_refuses(student, rng):
    """Refuses places before and behind"""
    base, views = base_and_views(rng)
    for t in (base, views[0]):
        raises(student.poke_, t, -1, 1.0, error=IndexError, case="a negative place")
        raises(student.poke_, t, base.numel() + rng.integer(0, 3), 1.0, error=IndexError, case="a place behind")


@check("C4", share=1, try_this="python -W error")
def check_no_warnings(student, rng):
    """Causes no warning, for any dtype"""
    for dtype in DTYPES:
        base, _ = base_and_views(rng, dtype)
        assert_no_warnings(student.storage_numbers, base)
        assert_no_warnings(student.poke_, after_call(base), 3, 1)


@check("C5", category="memory", share=2, try_this="t = torch.zeros(3); storage_numbers(t); print(t)")
def check_kept(student, rng):
    """Reading changes nothing, and writing leaves the shape and the strides of t"""
    base, views = base_and_views(rng)
    for t in views:
        with assert_unchanged(base, t, what="t"):
            student.storage_numbers(t)
        layout = t.shape, t.stride(), t.storage_offset()
        for place, when in ((0, "`poke_`"), (base.numel(), "`poke_` got a place behind")):
            with suppress(IndexError, RuntimeError, ValueError):  # what a place behind raises is for C3
                student.poke_(t, place, 1.0)
            same = (after_call(t).shape, after_call(t).stride(), after_call(t).storage_offset()) == layout
            assert_true(same, f"t has another shape, other strides or another offset after {when}")
