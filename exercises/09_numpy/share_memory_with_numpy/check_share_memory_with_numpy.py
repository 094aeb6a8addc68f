import numpy as np
import torch

from grader.check import answers, check, is_array, is_tensor, require, same_dtype, same_shape, same_values

DTYPES = ["float64", "float32", "float16", "complex64", "int64", "int32", "int16", "int8", "uint8", "uint16", "bool"]


@check("C1", share=1)
def check_small_tensor(student):
    """A tensor from a small array"""
    t = student.tensor_view(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    is_tensor(t)
    same_values(t, torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=torch.float64))


@check("C2", share=1)
def check_small_array(student):
    """An array from a small tensor"""
    a = student.array_view(torch.tensor([[1, 2, 3], [4, 5, 6]]))
    is_array(a)
    same_values(a, np.array([[1, 2, 3], [4, 5, 6]]))


@check("C3", category="memory")
def check_write_to_array(student):
    """Write to the array, read in the tensor"""
    a = np.zeros((2, 3))
    t = student.tensor_view(a)
    is_tensor(t)
    a[1, 1] = 23.0
    same_shape(t, a)
    require(t[1, 1] == 23.0, "after a[1, 1] = 23.0 the tensor does not have 23.0 at [1, 1]: the tensor is a copy")


@check("C3", category="memory")
def check_write_to_tensor(student):
    """Write to the tensor, read in the array"""
    t = torch.ones(2, 3)
    a = student.array_view(t)
    is_array(a)
    t.zero_()
    require((a == 0).all(), "after t.zero_() the array does not hold zeros: the array is a copy")


@check("C4", category="dtype")
def check_tensor_dtype(student):
    """tensor_view keeps the dtype"""
    for name in DTYPES:
        same_dtype(student.tensor_view(np.ones((2, 3), name)), getattr(torch, name), f"the tensor for a {name} array")


@check("C4", category="dtype")
def check_array_dtype(student):
    """array_view keeps the dtype"""
    for name in DTYPES:
        t = torch.ones(2, 3, dtype=getattr(torch, name))
        same_dtype(student.array_view(t), t, f"the array for a {name} tensor")


@check("C5", category="memory")
def check_twins(student):
    """A view shares memory, an equal copy does not"""
    a = np.array([1.0, 2.0, 3.0])
    answers(student.shares, a, torch.from_numpy(a), expected=True, case="for torch.from_numpy(a)")
    answers(
        student.shares,
        a,
        torch.tensor(a),
        expected=False,
        case="for torch.tensor(a), which has the same numbers elsewhere",
    )


@check("C5", category="memory", share=2)
def check_columns(student):
    """Columns side by side share no memory, columns in common do"""
    a = np.arange(12.0).reshape(3, 4)
    t = torch.from_numpy(a)
    answers(student.shares, a[:, ::2], t[:, 1::2], expected=False, case="for even and odd columns of one array")
    answers(student.shares, a[:, 2:], t[:, :2], expected=False, case="for the right and the left half of one array")
    answers(student.shares, a[:, ::2], t[1:, :1], expected=True, case="for columns 0 and 2 and a part of column 0")
    answers(student.shares, a.T, t[:, 1:], expected=True, case="for a transpose and a slice of one array")
