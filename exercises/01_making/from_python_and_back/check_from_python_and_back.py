import torch

from grader.check import assert_dtype, assert_isinstance, assert_shape, assert_tensor, assert_values, check, raises


@check("C1", share=1)
def check_number(student):
    """One number becomes a tensor of 0 dims"""
    t = student.to_tensor(7)
    assert_tensor(t)
    assert_shape(t, ())
    assert_values(t, 7)


@check("C2", share=1)
def check_large_number(student):
    """Keeps 16_777_217 as it is"""
    t = student.to_tensor([5, 16_777_217])
    assert_dtype(t, torch.int64)
    if t.numel() == 2:  # the places are for C1
        assert_values(t.flatten(), torch.tensor([5, 16_777_217]))


@check("C3", category="error", share=1)
def check_ragged(student):
    """Refuses rows of different lengths"""
    for week in ([[20, 21, 19], [18, 22]], [[20, 21], [18, 22], [19, 23, 25]], [[20, 21, 19], [18]]):
        raises(student.to_tensor, week, error=ValueError, case="rows of different lengths")


@check("C4", share=1)
def check_back(student):
    """A number and a list come back as plain Python"""
    number = student.to_python(torch.tensor(7))
    assert_isinstance(number, int, "the result for a tensor of 0 dims")
    assert_values(number, 7, "the result for a tensor of 0 dims")
    assert_values(student.to_python(torch.tensor([0.5, 2.0, -1.0])), [0.5, 2.0, -1.0])
