import numpy as np
import pytest
import torch

from grader.check import (
    assert_array,
    assert_dtype,
    assert_returns_bool,
    assert_tensor,
    assert_values,
    assert_writes_show,
    check,
)

DTYPES = ["float64", "float32", "float16", "complex64", "complex128", "int64", "int32", "int16", "int8", "bool"]
DTYPES += ["uint8", "uint16", "uint32", "uint64"]
EACH = pytest.mark.parametrize("name", ["tensor_view", "array_view"])


def viewed(student, name, a):
    """What a function returns for an array, or for a tensor on its memory; and that argument."""
    is_kind, argument = (assert_tensor, a) if name == "tensor_view" else (assert_array, torch.from_numpy(a))
    result = getattr(student, name)(argument)
    is_kind(result)
    return result, argument


@check("C1", share=1)
@EACH
def check_small(student, name):
    """The numbers of two rows"""
    a = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    result, _ = viewed(student, name, a)
    assert_values(result, torch.tensor(a) if name == "tensor_view" else a)


@check("C3", category="memory")
@EACH
def check_written(student, name):
    """Write on one side, read on the other"""
    assert_writes_show(*viewed(student, name, np.zeros((2, 3))))


@check("C2", category="dtype")
@EACH
def check_dtype(student, name):
    """Keeps the dtype"""
    for dtype in DTYPES:
        assert_dtype(*viewed(student, name, np.ones((2, 3), dtype)), f"the result for {dtype}")


@check("C4", category="memory")
def check_twins(student):
    """A view shares memory, an equal copy does not"""
    a = np.array([1.0, 2.0, 3.0])
    assert_returns_bool(student.shares, a, torch.from_numpy(a), expected=True, case="for torch.from_numpy(a)")
    assert_returns_bool(
        student.shares, a, torch.tensor(a), expected=False, case="for torch.tensor(a), equal numbers elsewhere"
    )


@check("C4", category="memory", share=2)
def check_columns(student):
    """Columns side by side share no memory, columns in common do"""
    a = np.arange(12.0).reshape(3, 4)
    t = torch.from_numpy(a)
    assert_returns_bool(
        student.shares, a[:, ::2], t[:, 1::2], expected=False, case="for even and odd columns of one array"
    )
    assert_returns_bool(
        student.shares, a[:, 2:], t[:, :2], expected=False, case="for the right and the left half of one array"
    )
    assert_returns_bool(
        student.shares, a[:, ::2], t[1:, :1], expected=True, case="for columns 0 and 2 and a part of column 0"
    )
    assert_returns_bool(student.shares, a.T, t[:, 1:], expected=True, case="for a transpose and a slice of one array")
