import ast
import re

import numpy as np
import torch

from grader.check import (
    CheckFailed,
    assert_close,
    assert_device,
    assert_no_hidden_code,
    assert_true,
    assert_unchanged,
    check,
    count_costs,
    facts,
    source,
)


def drawn(rng):
    """A batch of two tensors: one is not contiguous, one is 0-dim."""
    return {"pixels": rng.normal(rng.integer(2, 5), 3).T, "labels": torch.tensor(rng.integer(0, 9))}


# First, as who names a kind has the wrong device on machines with another one, too.
@check("C6", category="device", share=2, try_this='best_device(), on a machine whose accelerator is called "xpu"')
def check_names_no_kind(student):
    """The code names no kind of accelerator"""
    assert_no_hidden_code(student.best_device)
    assert_true(student.to_device({}, "cpu") == {}, "of an empty batch comes something else")
    for node in ast.walk(ast.parse(source(student))):
        # Of a constant, an attribute, an import, but no text that only begins so, such as a docstring.
        for text in (str(getattr(node, name, "")) for name in ("value", "attr", "module", "name")):
            if re.fullmatch(r"(torch\.)?(cuda|mps|xpu|mtia|hpu|npu|hip|sim|torch_xla)(:\d*)?(\.\w+)*", text):
                raise CheckFailed(f"your file names {text}, an accelerator (line {node.lineno})", from_text=True)


# Most workers have a simulated accelerator, or CUDA after `grade --device cuda`. A tensor that comes from there is an
# ordinary one here, whose facts name its device; a copy of it lies on the CPU.
@check("C1", category="device", share=2, device="sim", try_this="torch.accelerator.is_available(), best_device()")
def check_best(student, probe, accelerator):
    """best_device: the accelerator where there is one"""
    assert_no_hidden_code(student.best_device)
    assert_true(getattr(student.best_device(), "type", "") == accelerator.type, "`best_device` misses the accelerator")
    device = probe.without_accelerator(student.best_device)
    assert_true(getattr(device, "type", "") == "cpu", "`best_device` names an accelerator that is not on this machine")


@check("C2", share=3, device="sim", try_this='to_device({"b": 2, "a": torch.ones(3).double()}, "meta")')
def check_contents(student, accelerator, rng):
    """Keeps numbers, dtypes and order; the batch stays as it is"""
    dtypes = (torch.float64, torch.float16, torch.int64, torch.uint8, torch.bool, torch.complex64)
    tensors = [*((9 * rng.normal(4, 3)).to(dtype).T for dtype in dtypes), rng.normal(3).requires_grad_()]
    batch = {"files": ["a.png"]} | {f"key {tensor.dtype}": tensor for tensor in tensors}
    before = [(key, id(value)) for key, value in batch.items()]
    for device in ("cpu", accelerator.device(0)):
        with assert_unchanged(*tensors, what="a tensor of the batch"):
            result = student.to_device(batch, device)
        assert_true(isinstance(result, dict) and result is not batch, "the result is not a new dict")
        assert_true(
            [(key, id(value)) for key, value in batch.items()] == before, "the batch has other keys or values now"
        )
        assert_true(list(result) == list(batch), "the keys are not those of batch, in their order")
        for moved, tensor in zip(list(result.values())[1:], tensors, strict=True):
            assert_close(moved.clone(), tensor.detach(), f"the tensor made from {tensor.dtype}")
            assert_true(facts(moved).requires_grad == tensor.requires_grad, "`requires_grad` is not that of the batch")


@check("C3", category="device", share=4, device="sim", try_this='to_device({"a": torch.ones(2)}, "cuda:1")["a"].device')
def check_device_given(student, accelerator, probe, rng):
    """Every tensor goes to the device that is given, or to the best one"""
    assert_no_hidden_code(student.to_device)  # only the worker knows on which device a tensor is
    batch, first, second = drawn(rng), accelerator.device(0), accelerator.device(1)
    # Of derived classes, to the CPU, to another accelerator: the first that fails tells which mistake it is.
    assert_device(
        probe.of_others(student.to_device, second)[0], second, "the tensor for a parameter (torch.nn.Parameter)"
    )
    objects = [torch.device(name) for name in (first, second, "cpu")]
    for device in (second, "cpu", second, *objects, accelerator.type):
        batch = student.to_device(batch, device)
        for key in ("pixels", "labels"):
            assert_device(batch[key], str(device), f"the tensor under {key}")
    best = student.best_device()
    best = best if isinstance(best, str) else getattr(best, "type", "a device")  # C1 says what it must be
    for args in ((), (None,)):
        assert_device(student.to_device(drawn(rng), *args)["pixels"], best, "the tensor without a device")


@check("C4", share=2, device="sim", try_this='names = ["x"]; to_device({"names": names}, "meta")["names"] is names')
def check_passed_on(student, accelerator, probe, rng):
    """Passes on what is not a tensor"""
    one, two = rng.normal(2), rng.normal(3)
    for device in ("cpu", accelerator.type):
        batch = {"list": [one, two], "tuple": (one, two), "dict": {"x": one}, "array": np.arange(3.0), "None": None}
        result = student.to_device(dict(batch), device)
        for key, value in batch.items():
            assert_true(
                isinstance(result, dict) and result.get(key, ...) is value, f"the {key} is not passed on as it is"
            )
        assert_true(probe.of_others(student.to_device, device)[1], "an object with a method `to` is not passed on")


@check("C5", category="performance", share=3, device="sim", try_this='t = torch.ones(2); to_device({"a": t})["a"] is t')
def check_copies(student, accelerator, rng):
    """Copies each tensor once for each key, and none that is there"""
    batch, first, second = drawn(rng), accelerator.device(0), accelerator.device(1)
    for device in ("cpu", accelerator.type, first, torch.device(first), second):
        counts = count_costs(student.to_device, dict(batch), device)
        copies = sum(counts.ops[name] for name in ("_to_copy", "copy_", "clone"))
        assert_true(max(counts.transfers, copies) <= 2, "a tensor is copied twice")
        batch = counts.result
        assert_true(isinstance(batch, dict), "the result is not a dict")
        again = student.to_device(dict(batch), device)
        assert_true(
            all(again[key] is batch[key] for key in batch),
            "a tensor that is already there is not passed on as the same object",
        )
    twice = student.to_device(dict.fromkeys(("one", "two"), rng.normal(3)), second)
    assert_true(twice["one"] is not twice["two"], "a tensor with two keys is copied once for both")
