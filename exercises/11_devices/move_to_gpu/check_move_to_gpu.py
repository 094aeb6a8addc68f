import torch

from grader.check import check, is_instance, kind, require, same_values, type_name


@check("C1", category="device")
def check_kind(student):
    """best_device gives a torch.device, here the CPU's"""
    device = student.best_device()
    require(isinstance(device, torch.device), f"`best_device` must return a torch.device, got {kind(device)}")
    text = "expected `best_device()` to return the CPU's device, because no accelerator is available in this check"
    require(device.type == "cpu", f"{text}; got {device}")


@check("C2")
def check_small_batch(student):
    """Keeps the keys and the numbers of a batch"""
    result = student.to_device({"pixels": torch.ones(2, 3), "labels": torch.tensor([4, 7])}, "cpu")
    is_instance(result, dict, "the result of `to_device`")
    require(list(result) == ["pixels", "labels"], "the result must have the keys of the batch, in the same order")
    same_values(result["pixels"], torch.ones(2, 3), "pixels")
    same_values(result["labels"], torch.tensor([4, 7]), "labels")


@check("C3", category="device")
def check_goes_there(student):
    """Puts a tensor on the given device"""
    result = student.to_device({"pixels": torch.ones(2, 3)}, "meta")
    is_instance(result, dict, "the result of `to_device`")
    require("pixels" in result, "the result must have the key pixels")
    pixels = result["pixels"]
    # A tensor on "meta" has no numbers that could come here; what comes is a stand-in that knows its device.
    place = str(pixels.device) if type_name(pixels) == "Tensor" else f"no tensor but {kind(pixels)}"
    require(place == "meta", f"the tensor is not on the given device\nexpected  meta\ngot       {place}")


@check("C5")
def check_other_values(student):
    """Passes on what is not a tensor"""
    files = ["a.png", "b.png"]
    result = student.to_device({"files": files, "epoch": 3}, "cpu")
    is_instance(result, dict, "the result of `to_device`")
    require(set(result) == {"files", "epoch"}, "the result must have the keys of the batch")
    require(result["files"] is files, "the list is not passed on as the very same object")
    require(type(result["epoch"]) is int and result["epoch"] == 3, "the number is not passed on as it is")
