import ast
import re

import numpy as np
import torch

from grader.check import (
    CheckFailed,
    changed,
    check,
    facts,
    on_device,
    reads_openly,
    require,
    same_dtype,
    same_values,
    shares_memory,
    source,
    unchanged,
    uses_at_most,
)


# First, as who names a kind has the wrong device on machines with another one, too.
@check("C7", category="device", share=2, try_this='best_device(), on a machine whose accelerator is called "xpu"')
def check_names_no_kind(student):
    """The code names no kind of accelerator"""
    require(student.to_device({}, "cpu") == {}, "of an empty batch comes something else")
    for node in ast.walk(ast.parse(source(student))):
        # Of a constant, an attribute, an import; a text that only begins so, such as a docstring, is none.
        for text in (str(getattr(node, name, "")) for name in ("value", "attr", "module", "name")):
            kind = re.fullmatch(r"(torch\.)?(cuda|mps|xpu|mtia|hpu|npu|hip|sim|torch_xla)(:\d*)?(\.\w+)*", text)
            if kind is not None:
                line = getattr(node, "lineno", 0)
                raise CheckFailed(f"line {line} of your file names a kind of accelerator: {text}", from_text=True)


# Most workers have a simulated accelerator, or CUDA after `grade --device cuda`. A tensor that comes from there is an
# ordinary one here, whose facts name its device. A dict that only C2 is about goes in as a copy that may be `changed`.
@check("C1", category="device", share=2, device="sim", try_this="torch.accelerator.is_available(), best_device()")
def check_best(student, probe, accelerator):
    """best_device: the accelerator where there is one"""
    reads_openly(student.best_device)
    right = getattr(student.best_device(), "type", "") == accelerator.type
    require(right, "`best_device` does not return the accelerator's device")
    # As on a machine without a GPU whose PyTorch was built for one: `current_accelerator()` names it all the same.
    device = probe.without_accelerator(student.best_device)
    require(getattr(device, "type", "") == "cpu", "`best_device` names an accelerator that is not on this machine")


@check("C2", share=2, device="sim", try_this='to_device({"b": 2, "a": torch.ones(3).double()}, "meta")')
def check_contents(student, accelerator, rng):
    """Keeps numbers, dtypes and order"""
    dtypes = (torch.float64, torch.float16, torch.int64, torch.uint8, torch.bool, torch.complex64)
    batch = {f"{dtype}": (9 * rng.normal(4, 3)).to(dtype).T for dtype in dtypes} | {"x": rng.normal(3).requires_grad_()}
    batch = {"files": ["a.png"], **batch}
    result = student.to_device(dict(batch), accelerator.device(0))
    require(isinstance(result, dict) and list(result) == list(batch), "the keys are not those of batch, in their order")
    for key, tensor in list(batch.items())[1:]:
        same_values(result[key], tensor.detach(), f"the tensor made from {tensor.dtype}")
        same_dtype(result[key], tensor, f"the tensor made from {tensor.dtype}")
        require(facts(result[key]).requires_grad == tensor.requires_grad, "`requires_grad` is not that of the batch")


@check("C2", category="memory", device="sim", try_this='b = {"a": torch.ones(2)}; to_device(b, "meta"); print(b)')
def check_batch_stays(student, accelerator, rng):
    """The batch stays as it is; the result is new"""
    for device in ("cpu", accelerator.type):
        batch = _batch(rng)
        before = [(key, id(value)) for key, value in batch.items()]
        with unchanged(*batch.values(), what="a tensor of the batch"):
            result = student.to_device(batch, device)
        require(isinstance(result, dict) and result is not batch, "the result is not a new dict")
        require([(key, id(value)) for key, value in batch.items()] == before, "the batch has other keys or values now")


@check("C3", category="device", share=2, device="sim", try_this='to_device({"a": torch.ones(2)}, "cuda:1")["a"].device')
def check_device_given(student, accelerator, probe, rng):
    """Every tensor goes to the device that is given"""
    reads_openly(student.to_device)  # only the worker knows on which device a tensor is
    batch, first, second = _batch(rng), accelerator.device(0), accelerator.device(1)
    # Of derived classes, to the CPU, to another accelerator: the first that fails tells which mistake it is.
    moved = probe.of_parameter(student.to_device, torch.ones(3), second)
    on_device(moved, second, "the tensor for a parameter (torch.nn.Parameter)")
    for device in (
        second,
        "cpu",
        second,
        torch.device(first),
        torch.device(second),
        torch.device("cpu"),
        accelerator.type,
    ):
        batch = student.to_device(batch, device)
        _on(batch, str(device))


@check("C4", category="device", share=2, device="sim", try_this='to_device({"a": torch.ones(2)})["a"].device')
def check_device_left_out(student, rng):
    """Without a device: to the best one"""
    reads_openly(student.to_device)
    best = student.best_device()
    require(isinstance(best, torch.device), "`best_device` gives no torch.device")
    for args in ((), (None,)):
        on_device(student.to_device({"pixels": rng.normal(2)}, *args)["pixels"], best.type, "the tensor")


@check("C5", share=2, device="sim", try_this='names = ["x"]; to_device({"names": names}, "meta")["names"] is names')
def check_passed_on(student, accelerator, probe, rng):
    """Passes on what is not a tensor"""
    one, two = rng.normal(2), rng.normal(3)
    for device in ("cpu", accelerator.type):
        batch = {"list": [one, two], "tuple": (one, two), "dict": {"x": one}, "array": np.arange(3.0), "None": None}
        result = student.to_device(changed(dict(batch)), device)
        for key, value in batch.items():
            require(isinstance(result, dict) and result.get(key, ...) is value, f"the {key} is not passed on as it is")
        require(probe.passes_on_record(student.to_device, device), "an object with a method `to` is not passed on")


@check("C6", category="performance", share=2, device="sim", try_this='t = torch.ones(2); to_device({"a": t})["a"] is t')
def check_copies(student, accelerator, rng):
    """Copies each tensor once, and none that is there"""
    batch, first, second = _batch(rng), accelerator.device(0), accelerator.device(1)
    for device in ("cpu", accelerator.type, first, torch.device(first), second):
        counts = uses_at_most(student.to_device, (changed(dict(batch)), device), transfers=2)
        require(sum(counts.ops[name] for name in ("_to_copy", "copy_", "clone")) <= 2, "a tensor is copied twice")
        batch = counts.result
        require(isinstance(batch, dict), "the result is not a dict")
        again = student.to_device(changed(dict(batch)), device)
        require(all(again[key] is batch[key] for key in batch), "a tensor that is there already is copied")


@check(
    "C6", category="memory", share=1, device="sim", try_this='t = torch.ones(2); to_device({"a": t, "b": t}, "meta")'
)
def check_two_keys(student, accelerator, rng):
    """Copies a tensor with two keys for each of them"""
    shared = rng.normal(3)
    twice = student.to_device({"one": shared, "two": shared}, accelerator.device(1))
    require(not shares_memory(twice["one"], twice["two"]), "a tensor with two keys is copied once for both")


def _on(batch, device):
    for key in ("pixels", "labels"):
        on_device(batch[key], device, f"the tensor under {key}")


def _batch(rng):
    """Two tensors: one is not contiguous, one is 0-dim."""
    return {"pixels": rng.normal(rng.integer(2, 5), 3).T, "labels": torch.tensor(rng.integer(0, 9))}
