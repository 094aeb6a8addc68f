import numpy as np
import torch

from grader.check import (
    answers,
    changed,
    check,
    is_array,
    is_tensor,
    require,
    same,
    same_shape,
    same_values,
    writes_show,
)

TENSOR_WINDOW = "a = np.zeros((3, 4)); t = tensor_view(a[:, ::2].T); t[0, 0] = 1; print(a)"
ARRAY_WINDOW = "t = torch.zeros(3, 4); a = array_view(t[:, ::2].T); a[0, 0] = 1; print(t)"
SMALL = 1e-20  # lost in every sum, whatever else was drawn
DTYPES = torch.float64, torch.float16, torch.uint8, torch.uint16, torch.bool, torch.complex64


def tensors(rng, dtypes=(torch.float64,)):
    """Tensors of many shapes, sizes of 1 and 0 among them; the first in several dtypes."""
    m, n = rng.integers(2, 6, 2)
    yield from (rng.normal(m, n).mul(9).to(dtype) for dtype in dtypes)
    yield from (rng.normal(*shape) for shape in ((), (1,), (1, n), (m, 1), (0, n), (m, 1, n), (2, m, n)))


def windows(t):
    """Slices and transposes of a tensor of three dims."""
    return t[:, 1:, ::2], t.mT, t.permute(1, 2, 0), t.permute(2, 1, 0), t[1], t[1].T, t[..., 2], t[0, 1:3, 1:]


def linked(view, is_kind, arguments, what, base_name):
    """Views of arguments show what is written to these, and the other way round."""
    for argument in arguments:
        yours = view(argument)
        is_kind(yours, what)
        writes_show(yours, argument, what, base_name)


@check("C1", try_this="tensor_view(np.array(3.0)), tensor_view(np.ones((1, 3, 1)))")
def check_tensor_values(student, rng):
    """The tensor has the array's shape and numbers"""
    for x in tensors(rng):
        t = student.tensor_view(x.clone().numpy())
        is_tensor(t)
        same_shape(t, x)
        same_values(t, x)


@check("C2", try_this="array_view(torch.tensor(3.0)), array_view(torch.ones(1, 3, 1))")
def check_array_values(student, rng):
    """The array has the tensor's shape and numbers"""
    for x in tensors(rng):
        a = student.array_view(x.clone())
        is_array(a)
        same_shape(a, x)
        same_values(a, x)


@check("C3", category="memory", try_this="a = np.zeros(3); t = tensor_view(a); t[0] = 1; print(a)")
def check_tensor_shares(student, rng):
    """tensor_view copies nothing"""
    linked(student.tensor_view, is_tensor, (x.numpy() for x in tensors(rng, DTYPES)), "the tensor", "the array")


@check("C3", category="memory", try_this="t = torch.zeros(3); a = array_view(t); a[0] = 1; print(t)")
def check_array_shares(student, rng):
    """array_view copies nothing"""
    linked(student.array_view, is_array, tensors(rng, DTYPES), "the array", "the tensor")


@check("C3", category="memory", try_this=TENSOR_WINDOW)
def check_tensor_of_window(student, rng):
    """tensor_view copies no slice and no transpose"""
    arrays = [t.numpy() for t in windows(rng.normal(3, *rng.integers(4, 7, 2)))]
    linked(student.tensor_view, is_tensor, arrays, "the tensor of a slice or transpose", "the array")


@check("C3", category="memory", try_this=ARRAY_WINDOW)
def check_array_of_window(student, rng):
    """array_view copies no slice, no transpose and no expanded tensor"""
    t = rng.normal(3, *rng.integers(4, 7, 2))
    linked(student.array_view, is_array, windows(t), "the array of a slice or transpose", "the tensor")
    wide = student.array_view(t[..., :1].expand_as(t))
    same_shape(wide, t)
    writes_show(wide[..., 1:2], t[..., :1], "the array of an expanded tensor", "the tensor that was expanded")


@check("C5", category="memory", share=2, try_this="a = np.zeros(8); t = torch.from_numpy(a); shares(a[3:], t[:4])")
def check_offsets(student, probe, rng):
    """shares: windows that begin at different places"""
    t, cut = rng.normal(rng.integer(10, 16), dtype=torch.float64), rng.integer(3, 6)
    a, shares = t.numpy(), student.shares
    answers(shares, a[1:], t[cut:], expected=True, case="although one window lies inside the other")
    answers(shares, a[cut:], t[: cut + 1], expected=True, case="although the windows have an element in common")
    answers(shares, a[: cut + 2], t[cut:], expected=True, case="although the windows have elements in common")
    answers(shares, a[:cut], t[cut:], expected=False, case="although one window ends where the other begins")
    answers(shares, a[cut:], t[:cut], expected=False, case="although one window ends where the other begins")
    answers(shares, a[1:], t[cut], expected=True, case="although the tensor is one of the numbers of the array")
    answers(shares, a[1:], t[cut].clone(), expected=False, case="although the tensor is a copy of one number")
    for found, which in zip(probe.of_empty_windows(shares, cut), ("array", "tensor"), strict=True):
        require(found is False, f"`shares` does not return False although the {which} is empty")
    unknown = torch.full_like(t, torch.nan)
    answers(shares, a, unknown, expected=False, case="for a tensor elsewhere that holds NaN")
    answers(shares, unknown.numpy(), t, expected=False, case="for an array elsewhere that holds NaN")
    answers(shares, unknown.numpy()[cut:], unknown, expected=True, case="for NaN values in the same place")


@check("C5", category="memory", try_this="z = np.zeros(4, np.complex64); shares(z.imag, torch.from_numpy(z))")
def check_bytes(student, rng):
    """shares: the same bytes in other shapes and dtypes"""
    t, shares = rng.normal(rng.integer(3, 6), 4), student.shares
    a, z = t.numpy(), t.numpy().view(np.complex64)
    answers(shares, z, t, expected=True, case="for one array as complex and as real numbers")
    answers(shares, z.imag, torch.from_numpy(z), expected=True, case="for complex numbers and their imaginary parts")
    answers(shares, z.imag, torch.from_numpy(z.real), expected=False, case="for the real and the imaginary parts")
    answers(shares, a[0].view(np.int8)[5:], t[0, :2], expected=True, case="for single bytes within numbers")
    answers(shares, a[0].view(np.int16)[4:], t[0, :2], expected=False, case="for numbers that end where others begin")
    answers(shares, a[:, :1], t[:, :1].expand(-1, 9), expected=True, case="for a column and the same one expanded")
    answers(shares, a.T, t.flatten()[2:], expected=True, case="for a transpose and a flat slice")


@check("C6", category="memory", try_this="a = np.zeros((2, 2)); shares(a, torch.zeros(2)); print(a.shape)")
def check_keeps_layout(student, rng):
    """shares leaves shapes and strides"""
    t = rng.normal(3, 4)
    for a, other in ((t.numpy(), t), (t.numpy().T, t[1:]), (t.numpy()[:, 1:], t.T), (rng.normal(2, 2).numpy(), t)):
        before = a.shape, a.strides, a.dtype, tuple(other.shape), other.stride()
        student.shares(a, other)
        after = changed(a).shape, a.strides, a.dtype, tuple(changed(other).shape), other.stride()
        require(after == before, "a or t has another shape, dtype or other strides after `shares`")


@check("C6", category="memory", share=2, try_this="a = np.zeros(4); t = torch.from_numpy(a); shares(a, t); print(a)")
def check_only_looks(student, probe, rng):
    """shares changes neither side"""
    for dtype in (torch.float64, torch.int32, torch.uint8, torch.bool):
        t, other = (rng.normal(2, 4, 3, dtype=torch.float64).mul(9).to(dtype) for _ in range(2))
        if dtype.is_floating_point:
            t[0, 0, 0] = other[0, 0, 0] = SMALL
        before = t.clone(), other.clone()
        for a in (t.numpy(), t.numpy()[:, :2], t.numpy().T, other.numpy()):
            student.shares(a, t)
            changed(a)  # lies in the memory of t or other
            for side, kept in zip((changed(t), other), before, strict=True):
                same(side, kept, "a or t, after `shares`,", rtol=0.0, atol=0.0)
            require(probe.still_writable(student.shares, a, t) is True, "the array is read-only afterwards")
