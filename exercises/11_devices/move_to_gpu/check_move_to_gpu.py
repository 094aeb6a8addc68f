import torch

from grader.check import (
    assert_device,
    assert_isinstance,
    assert_no_hidden_code,
    assert_true,
    assert_values,
    check,
    kind,
)


@check("C1", category="device")
def check_kind(student):
    """best_device gives a torch.device, here the CPU's"""
    device = student.best_device()
    assert_isinstance(device, torch.device, "the result of `best_device`")
    assert_true(device.type == "cpu", f"expected the CPU's device, as this check has no accelerator; got {device}")
    assert_no_hidden_code(student.best_device)  # hidden checks cannot judge code that hides what it does


@check("C2")
def check_small_batch(student):
    """Keeps the keys and the numbers of a batch"""
    batch = {"pixels": torch.ones(2, 3), "labels": torch.tensor([4, 7])}
    result = student.to_device(batch, "cpu")
    assert_values(result, batch)
    assert_true(list(result) == list(batch), "the result must have the keys of the batch, in the same order")


@check("C3", category="device")
def check_goes_there(student):
    """Puts a tensor on the given device, and without one on the best: here the CPU"""
    pixels = student.to_device({"pixels": torch.ones(2, 3)}, "meta")["pixels"]
    place = str(getattr(pixels, "device", kind(pixels)))
    assert_true(place == "meta", f"the tensor is not on the given device\nexpected  meta\ngot       {place}")
    if getattr(student.best_device(), "type", "") == "cpu":  # another one is for C1: this check has no accelerator
        for args in ((), (None,)):
            moved = student.to_device({"pixels": torch.ones(2, 3)}, *args)
            assert_device(moved["pixels"], "cpu", "the tensor without a device")


@check("C4")
def check_other_values(student):
    """Passes on what is not a tensor"""
    batch = {"files": ["a.png", "b.png"], "epoch": 3}
    result = student.to_device(batch, "cpu")
    assert_values(result, batch)
    assert_true(all(result[key] is batch[key] for key in batch), "a value is not passed on as the very same object")
