import torch

from grader.check import check, is_instance, reads_openly, require, same_values

KEYS = ["shape", "dims", "numbers", "dtype", "device", "bytes"]


@check("C1", share=1)
def check_matrix(student):
    """The shape of a matrix, and how many numbers it has"""
    result = student.passport(torch.zeros(2, 3))
    is_instance(result, dict, "the result of `passport`")
    text = "the keys are not the six of the task, in their order"
    require(list(result) == KEYS, f"{text}\nexpected  {KEYS}\ngot       {list(result)}")
    is_instance(result["shape"], tuple, "the shape")
    require(not isinstance(result["shape"], torch.Size), "the shape is a torch.Size; make a plain tuple of it")
    found = [result[key] for key in ("shape", "dims", "numbers")]
    same_values(found, [(2, 3), 2, 6], 'the list of "shape", "dims" and "numbers"')
    reads_openly(student.passport)  # hidden checks cannot judge code that hides what it does


@check("C2", category="dtype", share=1)
def check_dtype_and_device(student):
    """The dtype and the device of a matrix"""
    result = student.passport(torch.zeros(2, 3))
    is_instance(result["dtype"], torch.dtype, 'the item "dtype"')
    require(result["dtype"] is torch.float32, f'expected the item "dtype" to be torch.float32, got {result["dtype"]}')
    is_instance(result["device"], str, 'the item "device"')
    same_values(result["device"], "cpu", 'the item "device"')


@check("C4", share=1)
def check_two_brackets(student):
    """The brackets of a matrix, and of no numbers"""
    same_values(student.brackets(torch.zeros(1, 2)), 2, "brackets(torch.zeros(1, 2))")
    same_values(student.brackets(torch.zeros(0, 2)), 1, "brackets(torch.zeros(0, 2))")


@check("C5", share=1)
def check_shown_of_two(student):
    """What the print of two small matrices names"""
    for dtype, names in ((torch.float32, set()), (torch.int16, {"dtype"})):
        found, what = student.shown(torch.zeros(1, 2, dtype=dtype)), f"the result of `shown` for {dtype}"
        is_instance(found, set, what)
        same_values(found, names, what)
