import torch

from grader.check import check, is_instance, require, same_values

KEYS = ["shape", "dims", "numbers", "dtype", "device", "bytes"]


@check("C1", share=1)
def check_matrix(student):
    """The shape of a matrix, and how many numbers it has"""
    result = student.passport(torch.zeros(2, 3))
    is_instance(result, dict, "the result of `passport`")
    require(list(result) == KEYS, "the keys are not the six of the task, in their order")
    is_instance(result["shape"], tuple, "the shape")
    require(not isinstance(result["shape"], torch.Size), "the shape is a torch.Size; make a plain tuple of it")
    same_values([result[key] for key in ("shape", "dims", "numbers")], [(2, 3), 2, 6], "shape, dims and numbers")


@check("C2", category="dtype", share=1)
def check_dtype_and_device(student):
    """The dtype and the device of a matrix"""
    result = student.passport(torch.zeros(2, 3))
    require(result["dtype"] is torch.float32, "the dtype is not torch.float32")
    require(result["device"] == "cpu" and isinstance(result["device"], str), 'the device is not the string "cpu"')


@check("C4", share=1)
def check_two_brackets(student):
    """The brackets of a matrix, and of no numbers"""
    same_values(student.brackets(torch.zeros(1, 2)), 2, "brackets(torch.zeros(1, 2))")
    same_values(student.brackets(torch.zeros(0, 2)), 1, "brackets(torch.zeros(0, 2))")


@check("C5", share=1)
def check_shown_of_two(student):
    """What the print of two small matrices names"""
    same_values(student.shown(torch.zeros(1, 2)), set(), "what is shown of float32")
    same_values(student.shown(torch.zeros(1, 2, dtype=torch.int16)), {"dtype"}, "what is shown of int16")
