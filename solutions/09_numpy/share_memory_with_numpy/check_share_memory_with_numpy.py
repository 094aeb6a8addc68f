import numpy as np
import torch

from grader.check import (
    answers,
    check,
    is_array,
    is_tensor,
    no_new_storage,
    require,
    same_dtype,
    same_shape,
    same_values,
    unchanged,
)

TENSOR_WINDOW = "a = np.zeros((3, 4)); t = tensor_view(a[:, ::2].T); t[0, 0] = 1; print(a)"
ARRAY_WINDOW = "t = torch.zeros(3, 4); a = array_view(t[:, ::2].T); a[0, 0] = 1; print(t)"
DTYPES = ("float64", "float32", "int64", "int32", "int16", "uint8", "bool", "complex64")


@check("C1", try_this="tensor_view(np.arange(24.0).reshape(2, 3, 4))")
def check_tensor_values(student, rng):
    """The tensor has the array's shape and numbers"""
    a = _array(rng, rng.integer(2, 5), rng.integer(2, 5), 3)
    wanted = a.copy()
    t = student.tensor_view(a)
    is_tensor(t)
    same_shape(t, wanted)
    same_values(t, wanted)


@check("C2", try_this="array_view(torch.arange(24.0).reshape(2, 3, 4))")
def check_array_values(student, rng):
    """The array has the tensor's shape and numbers"""
    t = rng.normal(rng.integer(2, 5), rng.integer(2, 5), 3)
    wanted = t.clone()
    a = student.array_view(t)
    is_array(a)
    same_shape(a, wanted)
    same_values(a, wanted)


@check("C3", category="memory", share=2, try_this="a = np.zeros(3); t = tensor_view(a); t[0] = 1; print(a)")
def check_tensor_shares(student, rng):
    """tensor_view copies nothing"""
    a = _array(rng, rng.integer(2, 5), rng.integer(3, 6))
    _both_ways(a, student.tensor_view(a), rng, "tensor_view(a)", "a")
    no_new_storage(student.tensor_view, a)


@check("C3", category="memory", share=2, try_this="t = torch.zeros(3); a = array_view(t); a[0] = 1; print(t)")
def check_array_shares(student, rng):
    """array_view copies nothing"""
    t = rng.normal(rng.integer(2, 5), rng.integer(3, 6))
    _both_ways(t, student.array_view(t), rng, "array_view(t)", "t")
    no_new_storage(student.array_view, t)


@check("C3", category="memory", share=2, try_this=TENSOR_WINDOW)
def check_tensor_of_window(student, rng):
    """tensor_view copies no slice and no transpose"""
    a = _array(rng, rng.integer(4, 7), rng.integer(5, 8))
    _both_ways(a[1:, ::2], student.tensor_view(a[1:, ::2]), rng, "tensor_view of a slice", "the array")
    _both_ways(a.T, student.tensor_view(a.T), rng, "tensor_view of a transpose", "the array")


@check("C3", category="memory", share=2, try_this=ARRAY_WINDOW)
def check_array_of_window(student, rng):
    """array_view copies no slice and no transpose"""
    t = rng.normal(rng.integer(4, 7), rng.integer(5, 8))
    _both_ways(t[1:, ::2], student.array_view(t[1:, ::2]), rng, "array_view of a slice", "the tensor")
    _both_ways(t.T, student.array_view(t.T), rng, "array_view of a transpose", "the tensor")


@check("C4", category="dtype", try_this="tensor_view(np.array([1, 2], dtype=np.int16)).dtype")
def check_tensor_dtype(student):
    """tensor_view keeps the dtype"""
    for name in DTYPES:
        a = np.ones((2, 2), dtype=name)
        same_dtype(student.tensor_view(a), a, f"the tensor for a {name} array")


@check("C4", category="dtype", try_this="array_view(torch.tensor([1, 2], dtype=torch.int16)).dtype")
def check_array_dtype(student):
    """array_view keeps the dtype"""
    for name in DTYPES:
        t = torch.ones(2, 2, dtype=getattr(torch, name))
        same_dtype(student.array_view(t), t, f"the array for a {name} tensor")


@check("C5", category="memory", share=2, try_this="a = np.zeros(8); t = torch.from_numpy(a); shares(a[3:], t[:4])")
def check_offsets(student, rng):
    """shares: windows that begin at different places"""
    size = rng.integer(10, 16)
    a = _array(rng, size)
    t = torch.from_numpy(a)
    cut = rng.integer(3, size - 3)
    answers(student.shares, a[1:], t[cut:], asked=True, case="although one window lies inside the other")
    answers(student.shares, a[cut:], t[: cut + 1], asked=True, case="although the windows have one element in common")
    answers(student.shares, a[:cut], t[cut:], asked=False, case="although one window ends where the other begins")
    answers(student.shares, a[cut:], t[:cut], asked=False, case="although one window ends where the other begins")


@check("C5", category="memory", try_this="a = np.zeros((3, 4)); t = torch.from_numpy(a); shares(a[:, ::2], t[:, 1::2])")
def check_columns(student, rng):
    """shares: columns that lie side by side"""
    a = _array(rng, rng.integer(3, 6), 2 * rng.integer(2, 4))
    t = torch.from_numpy(a)
    answers(
        student.shares,
        a[:, ::2],
        t[:, 1::2],
        asked=False,
        case="for even and odd columns, which have no element in common",
    )
    answers(student.shares, a[:, ::2], t[1:, :1], asked=True, case="for windows that have part of a column in common")
    answers(student.shares, a.T, t[:, 1:], asked=True, case="for a transpose and a slice of one array")


@check("C5", category="memory", try_this="t = torch.zeros(4); shares(t.numpy(), t), shares(t.numpy().copy(), t)")
def check_equal_numbers(student, rng):
    """shares: the same numbers in two places"""
    t = rng.normal(rng.integer(3, 6), rng.integer(3, 6))
    answers(student.shares, t.numpy().copy(), t, asked=False, case="for a copy with equal numbers")
    answers(student.shares, t.numpy(), t.clone(), asked=False, case="for a clone with equal numbers")
    answers(student.shares, t.numpy(), t, asked=True, case="for two views of the same memory")


@check("C6", category="memory", try_this="a = np.zeros(4); t = torch.from_numpy(a); shares(a, t); print(a, t._version)")
def check_only_looks(student, rng):
    """shares changes neither side"""
    a = _array(rng, 3, 4)
    t, other = torch.from_numpy(a), rng.normal(3, 4, dtype=torch.float64)
    with unchanged(a, t, other, what="an argument of shares"):
        student.shares(a, t)
        student.shares(a, other)


def _array(rng, *shape):
    return rng.normal(*shape, dtype=torch.float64).numpy()


def _both_ways(mine, yours, rng, name, base_name):
    """Write to every element, first on one side, then on the other."""
    is_tensor(yours, name) if isinstance(mine, np.ndarray) else is_array(yours, name)
    same_shape(yours, mine, name)
    if isinstance(yours, np.ndarray):
        require(yours.flags.writeable, f"{name} is read-only; a write to it must show in {base_name}")
    fresh = rng.integer(20, 100)
    mine[...] = fresh
    require((yours == fresh).all(), f"a write to {base_name} does not show in {name}: it is a copy")
    yours[...] = -fresh
    require((mine == -fresh).all(), f"a write to {name} does not show in {base_name}: it is a copy")
