import torch

from grader.check import assert_isinstance, assert_no_hidden_code, assert_true, assert_values, check

KEYS = ["shape", "dims", "numbers", "dtype", "device", "bytes"]


@check("C1", share=1)
def check_matrix(student):
    """The shape of a matrix, and how many numbers it has"""
    result = student.passport(torch.zeros(2, 3))
    assert_isinstance(result, dict, "the result of `passport`")
    text = "the keys are not the six of the task, in their order"
    assert_true(list(result) == KEYS, f"{text}\nexpected  {KEYS}\ngot       {list(result)}")
    assert_isinstance(result["shape"], tuple, "the shape")
    assert_true(not isinstance(result["shape"], torch.Size), "the shape is a torch.Size; make a plain tuple of it")
    found = [result[key] for key in ("shape", "dims", "numbers")]
    assert_values(found, [(2, 3), 2, 6], 'the list of "shape", "dims" and "numbers"')
    assert_no_hidden_code(student.passport)  # hidden checks cannot judge code that hides what it does


@check("C2", category="dtype", share=1)
def check_dtype_and_device(student):
    """The dtype and the device of a matrix"""
    result = student.passport(torch.zeros(2, 3))
    assert_isinstance(result["dtype"], torch.dtype, 'the item "dtype"')
    assert_true(
        result["dtype"] is torch.float32, f'expected the item "dtype" to be torch.float32, got {result["dtype"]}'
    )
    assert_isinstance(result["device"], str, 'the item "device"')
    assert_values(result["device"], "cpu", 'the item "device"')


@check("C4", share=1)
def check_two_brackets(student):
    """The brackets of a matrix, and of no numbers"""
    assert_values(student.brackets(torch.zeros(1, 2)), 2, "brackets(torch.zeros(1, 2))")
    assert_values(student.brackets(torch.zeros(0, 2)), 1, "brackets(torch.zeros(0, 2))")


@check("C5", share=1)
def check_shown_of_two(student):
    """What the print of two small matrices names"""
    for dtype, names in ((torch.float32, set()), (torch.int16, {"dtype"})):
        found, what = student.shown(torch.zeros(1, 2, dtype=dtype)), f"the result of `shown` for {dtype}"
        assert_isinstance(found, set, what)
        assert_values(found, names, what)
