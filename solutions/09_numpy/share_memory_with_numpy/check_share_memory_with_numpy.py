import numpy as np
import pytest
import torch

from grader.check import (
    assert_array,
    assert_returns_bool,
    assert_shape,
    assert_tensor,
    assert_true,
    assert_unchanged,
    assert_values,
    assert_writes_show,
    check,
)

EACH = pytest.mark.parametrize("name", ["tensor_view", "array_view"])


def tensors(rng, dtypes=(torch.float64,)):
    """Tensors of many shapes, sizes of 1 and 0 among them; the first in several dtypes."""
    m, n = rng.integers(2, 6, 2)
    yield from (rng.normal(m, n).mul(9).to(dtype) for dtype in dtypes)
    yield from (rng.normal(*shape) for shape in ((), (1,), (1, n), (m, 1), (0, n), (m, 1, n), (2, m, n)))


def viewed(student, name, t):
    """What a function returns for a tensor, or for an array on its memory; and that argument."""
    is_kind, argument = (assert_array, t) if name == "array_view" else (assert_tensor, t.numpy())
    result = getattr(student, name)(argument)
    is_kind(result)
    return result, argument


@check("C1", try_this="tensor_view(np.array(3.0)), array_view(torch.ones(1, 3, 1))")
@EACH
def check_values(student, name, rng):
    """The shape and the numbers of many shapes"""
    for x in tensors(rng):
        result, _ = viewed(student, name, x.clone())
        assert_shape(result, x)
        assert_values(result, x.numpy() if name == "array_view" else x)


@check("C3", category="memory", share=2, try_this="a = np.zeros((3, 4)); t = tensor_view(a[::2].T); t[0] = 1; print(a)")
@EACH
def check_no_copy(student, name, rng):
    """Copies no shape, no dtype, no slice and no transpose"""
    t = rng.normal(3, *rng.integers(4, 7, 2))
    for view in (t[:, 1:, ::2], t.mT, t.permute(1, 2, 0), t.permute(2, 1, 0), t[1], t[1].T, t[..., 2], t[0, 1:3, 1:]):
        assert_writes_show(*viewed(student, name, view), "the result for a slice or transpose")
    for x in tensors(rng, (torch.float64, torch.float16, torch.uint8, torch.uint16, torch.bool, torch.complex64)):
        assert_writes_show(*viewed(student, name, x))
    if name == "array_view":
        wide = student.array_view(t[..., :1].expand_as(t))
        assert_shape(wide, t)
        assert_writes_show(
            wide[..., 1:2], t[..., :1], "the array of an expanded tensor", "the tensor that was expanded"
        )


@check("C4", category="memory", share=2, try_this="a = np.zeros(8); t = torch.from_numpy(a); shares(a[3:], t[:4])")
def check_offsets(student, probe, rng):
    """shares: views that begin at different places"""
    t, cut = rng.normal(rng.integer(10, 16), dtype=torch.float64), rng.integer(3, 6)
    a, shares = t.numpy(), student.shares
    assert_returns_bool(shares, a[1:], t[cut:], expected=True, case="although one view lies inside the other")
    assert_returns_bool(
        shares, a[cut:], t[: cut + 1], expected=True, case="although the views have an element in common"
    )
    assert_returns_bool(shares, a[: cut + 2], t[cut:], expected=True, case="although the views have elements in common")
    assert_returns_bool(shares, a[:cut], t[cut:], expected=False, case="although one view ends where the other begins")
    assert_returns_bool(
        shares, a[1:], t[cut], expected=True, case="although the tensor is one of the numbers of the array"
    )
    assert_returns_bool(
        shares, a[1:], t[cut].clone(), expected=False, case="although the tensor is a copy of one number"
    )
    for found in probe.of_empty_views(shares, cut):
        is_false = isinstance(found, (bool, np.bool_)) and not found
        assert_true(is_false, "`shares` does not return False although the array or the tensor is empty")


@check("C4", category="memory", try_this="z = np.zeros(4, np.complex64); shares(z.imag, torch.from_numpy(z))")
def check_bytes(student, rng):
    """shares: the same bytes in other shapes and dtypes"""
    t, shares = rng.normal(rng.integer(3, 6), 4), student.shares
    a, z = t.numpy(), t.numpy().view(np.complex64)
    assert_returns_bool(shares, z, t, expected=True, case="for one array as complex and as real numbers")
    assert_returns_bool(
        shares, z.imag, torch.from_numpy(z), expected=True, case="for complex numbers and their imaginary parts"
    )
    assert_returns_bool(
        shares, z.imag, torch.from_numpy(z.real), expected=False, case="for the real and the imaginary parts"
    )
    assert_returns_bool(shares, a[0].view(np.int8)[5:], t[0, :2], expected=True, case="for single bytes within numbers")
    assert_returns_bool(
        shares, a[0].view(np.int16)[4:], t[0, :2], expected=False, case="for numbers that end where others begin"
    )
    assert_returns_bool(
        shares, a[:, :1], t[:, :1].expand(-1, 9), expected=True, case="for a column and the same one expanded"
    )
    assert_returns_bool(shares, a.T, t.flatten()[2:], expected=True, case="for a transpose and a flat slice")
    wide = rng.normal(60, 90)
    assert_returns_bool(
        shares, wide.numpy()[:, ::2], wide[:, 1::2], expected=False, case="for the columns of a large array"
    )


@check("C5", category="memory", share=3, try_this="a = np.zeros((2, 2)); shares(a, torch.zeros(2)); print(a)")
def check_only_looks(student, rng):
    """shares changes neither side"""
    for dtype in (torch.float64, torch.int32, torch.uint8, torch.bool):
        t, other = (rng.normal(2, 4, 3).mul(9).to(dtype) for _ in range(2))
        for a in (t.numpy(), t.numpy()[:, :2], t.numpy().T, other.numpy()):
            with assert_unchanged(a, t, what="a or t"):
                student.shares(a, t)
    a, t = (locked := rng.normal(4)).numpy(), locked[2:]
    a.flags.writeable = False
    student.shares(a, t)  # whoever writes into a to see what t does cannot
