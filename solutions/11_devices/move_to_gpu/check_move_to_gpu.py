import ast

import numpy as np
import torch

from grader.check import (
    CannotJudge,
    check,
    claims,
    count_ops,
    kind,
    on_device,
    require,
    same_dtype,
    same_values,
    source,
    type_name,
    unchanged,
    uses_at_most,
)

TRY_SIM_COPIED_ONCE = 't = to_device({"a": torch.ones(2)})["a"]; to_device({"a": t})["a"] is t'

KINDS = {"cuda", "mps", "xpu", "mtia", "hpu", "npu", "xla", "hip", "sim"}

# Most checks use "meta", a device that every machine has: its tensors have no numbers and stay with the worker; what
# comes here is a stand-in that tells its device. The checks marked device="sim" have a worker with a simulated
# accelerator, or with CUDA after `grade --device cuda`; the fixture `accelerator` names its devices, and
# `torch.accelerator` finds it there. A tensor of the check's is handed over on the CPU. A tensor that comes back from
# the accelerator is here an ordinary tensor whose claims tell its device, such as "sim:1", and it goes in again as the
# same object on that device. Any other worker hides a real accelerator.


@check("C1", category="device", try_this="best_device(), on a machine without a GPU")
def check_no_accelerator(student):
    """best_device: the CPU where there is nothing else"""
    device = _device(student.best_device())
    require(device.type == "cpu", "`best_device` is not the CPU, although there is no accelerator here")


@check("C1", category="device", try_this="torch.accelerator.is_available(), best_device()")
def check_built_for_one(student, probe):
    """best_device: no accelerator that is not there"""
    student.best_device()
    # As on a machine without a GPU whose PyTorch was built for one: `current_accelerator()` names it all the same.
    device = _device(probe.without_accelerator(student.best_device))
    text = "`best_device` is not the CPU where PyTorch was built for an accelerator, but the machine has none"
    require(device.type == "cpu", text)


@check("C2", try_this='to_device({"a": torch.ones(2), "b": torch.zeros(3)}, "cpu")')
def check_values(student, rng):
    """The new tensors hold the same numbers"""
    batch = _batch(rng)
    before = {key: value.clone() for key, value in batch.items() if isinstance(value, torch.Tensor)}
    result = _moved(student, batch, "cpu")
    for key, wanted in before.items():
        same_values(result[key], wanted, f"the tensor under {key}")


@check("C2", category="dtype", try_this='to_device({"a": torch.ones(2, dtype=torch.float64)}, "cpu")')
def check_dtypes(student):
    """The new tensors keep their dtypes"""
    for dtype in (torch.float64, torch.float16, torch.int64, torch.uint8, torch.bool, torch.complex64):
        result = _moved(student, {"values": torch.ones(3, dtype=dtype)}, "cpu")
        same_dtype(result["values"], dtype, f"the tensor made from {str(dtype).removeprefix('torch.')}")


@check("C2", try_this='list(to_device({"b": 1, "a": torch.ones(2)}, "cpu"))')
def check_keys(student, rng):
    """The keys of the batch, in the same order"""
    names = ["pixels", "labels", "files", "weights", "epoch"]
    keys = [names[int(i)] for i in torch.randperm(5, generator=rng)]
    batch = {key: rng.normal(2) if i % 2 else i for i, key in enumerate(keys)}
    result = student.to_device(dict(batch), "cpu")
    require(isinstance(result, dict), f"`to_device` returns {kind(result)}, a dict is asked")
    require(set(result) == set(keys), "the keys are not those of the batch")
    require(list(result) == keys, "the keys are not in the order of the batch")
    require(student.to_device({}, "cpu") == {}, "for an empty batch an empty dict is asked")


@check("C3", category="device", share=2, try_this='to_device({"a": torch.ones(2)}, "meta")["a"].device')
def check_device_given(student, rng):
    """Every tensor goes to the device that is given"""
    for device in ("meta", torch.device("meta")):
        _all_on(_moved(student, _batch(rng), device), "meta", f"to_device(batch, {device!r})")
        _all_on(_moved(student, _batch(rng), device="cpu"), "cpu", "to_device(batch, device='cpu')")


@check("C4", category="device", try_this='to_device({"a": torch.ones(2)})["a"].device == best_device()')
def check_device_left_out(student, rng):
    """Without a device: to the best one"""
    _all_on(_moved(student, _batch(rng)), "cpu", "to_device(batch)")
    _all_on(_moved(student, _batch(rng), None), "cpu", "to_device(batch, None)")
    _all_on(_moved(student, _batch(rng), device=None), "cpu", "to_device(batch, device=None)")


@check("C5", share=2, try_this='names = ["x"]; to_device({"names": names}, "cpu")["names"] is names')
def check_passed_on(student, rng):
    """What is no tensor is passed on as it is"""
    for device in ("cpu", "meta"):
        others = {
            "names": ["a.png", "b.png"],
            "sizes": (rng.integer(3, 9), 5),
            "inner": {"tensor": rng.normal(2)},
            "tensors": [rng.normal(2), rng.normal(3)],
            "array": np.arange(3.0),
        }
        result = _moved(student, {"pixels": rng.normal(2), **others, "none": None, "text": "cpu", "half": 0.5}, device)
        for key, value in others.items():
            require(result.get(key) is value, f"a {type(value).__name__} is not passed on as the very same object")
        plain = [result.get(key, "missing") for key in ("none", "text", "half")]
        kept = [type(value) for value in plain] == [type(None), str, float] and plain == [None, "cpu", 0.5]
        require(kept, "None, a string or a number is not passed on as it is")


@check("C6", category="memory", share=2, try_this='b = {"a": torch.ones(2)}; to_device(b, "meta"); print(b)')
def check_batch_unchanged(student, rng):
    """The batch stays as it is; the result is new"""
    for device in ("cpu", "meta"):
        batch = _batch(rng)
        before = dict(batch)
        tensors = [value for value in batch.values() if isinstance(value, torch.Tensor)]
        with unchanged(*tensors, what="a tensor of the batch"):
            result = student.to_device(batch, device)
        _holds(batch, before)
        require(result is not batch, "the result is the batch itself, a new dict is asked")


@check("C7", category="memory", share=2, try_this='t = torch.ones(2); to_device({"a": t}, t.device)["a"] is t')
def check_already_there(student, rng):
    """A tensor that is there already is not copied"""
    for device in ("cpu", torch.device("cpu"), None, "meta", torch.device("meta")):
        batch = _batch(rng)
        first = _moved(student, batch, device) if str(device) == "meta" else batch
        second = _moved(student, first, device)
        kept = all(second[key] is first[key] for key in ("pixels", "labels"))
        require(kept, f"with {device!r} as device, a tensor that is there already is copied")


@check("C7", category="performance", share=2, try_this='to_device({"a": torch.ones(2), "b": torch.ones(2)}, "meta")')
def check_copied_once(student, rng):
    """Every other tensor is copied once"""
    batch = _batch(rng)
    first = _moved(student, batch, "meta")
    if any(isinstance(first[key], torch.Tensor) for key in ("pixels", "labels")):
        raise CannotJudge("the tensors do not go to the device that is asked for, so their copies cannot be counted")
    seen = count_ops(student.to_device, dict(batch), "meta")
    # A copy to another device is one operation; `empty_like(...).copy_(...)` makes the same in two.
    copies = sum(count for name, count in seen.items() if name in ("_to_copy", "clone", "copy", "copy_"))
    require(copies <= 2, f"{copies} copies are made of 2 tensors, one of each is asked")


@check("C8", category="device", share=2, try_this='best_device(), on a machine whose accelerator is called "xpu"')
def check_names_no_kind(student):
    """The code names no kind of accelerator"""
    student.best_device()
    if not isinstance(student.to_device({}, "cpu"), dict):
        raise CannotJudge("`to_device` must return a dict before its text is looked at")
    for node in ast.walk(ast.parse(source(student))):
        found = KINDS & _names(node)
        require(not found, f"line {getattr(node, 'lineno', 0)} of your file names {', '.join(sorted(found))}")


@check("C1", category="device", device="sim", try_this="best_device(), on a machine with a GPU")
def check_sim_best(student, accelerator):
    """best_device: the accelerator where there is one"""
    device = student.best_device()
    require(isinstance(device, torch.device), f"`best_device` returns {kind(device)}, a torch.device is asked")
    require(device.type == accelerator.type, f"`best_device` is {device.type}, although there is an accelerator")


@check("C3", category="device", device="sim", try_this='to_device({"a": torch.ones(2)}, "cuda:1")["a"].device')
def check_sim_index(student, accelerator, rng):
    """The index of the accelerator counts"""
    second = accelerator.device(1)
    for device in (second, torch.device(second), accelerator.device(0)):
        batch = _batch(rng)
        before = batch["pixels"].clone()
        result = _moved(student, batch, device)
        _both_on(result, str(device))
        same_values(result["pixels"], before, "the tensor under pixels")


@check("C4", category="device", device="sim", try_this='to_device({"a": torch.ones(2)})["a"].device')
def check_sim_left_out(student, accelerator, rng):
    """Without a device: to the accelerator"""
    for result in (_moved(student, _batch(rng)), _moved(student, _batch(rng), None)):
        _both_on(result, accelerator.type)


@check("C7", category="performance", device="sim", try_this=TRY_SIM_COPIED_ONCE)
def check_sim_copied_once(student, accelerator, rng):
    """Every tensor moves to the accelerator once"""
    batch = _batch(rng)
    place = accelerator.device(0)
    moved = uses_at_most(student.to_device, (dict(batch), place), transfers=2).transfers
    require(moved == 2, f"{moved} tensors are moved, of 2 in the batch")
    first = _moved(student, batch, place)
    second = _moved(student, first, place)
    require(all(second[key] is first[key] for key in ("pixels", "labels")), "a tensor that is there already is copied")


@check("C6", category="memory", device="sim", try_this='b = {"a": torch.ones(2)}; to_device(b, "cuda"); print(b)')
def check_sim_batch_stays(student, accelerator, rng):
    """The batch stays on the CPU"""
    batch = _batch(rng)
    before = dict(batch)
    student.to_device(batch, accelerator.type)
    _holds(batch, before)
    _both_on(batch, "cpu", "the batch's own tensor")


def _device(value):
    if not isinstance(value, torch.device):
        raise CannotJudge(f"`best_device` returns {kind(value)}, a torch.device is asked")
    return value


def _both_on(batch, device, what="the tensor"):
    for key in ("pixels", "labels"):
        on_device(batch[key], device, f"{what} under {key}")


def _holds(batch, before):
    require(list(batch) == list(before), "the keys of the batch were changed")
    require(all(batch[key] is before[key] for key in before), "the batch holds other values than before the call")


def _batch(rng):
    """Two tensors and something else."""
    labels = torch.randint(0, 9, (rng.integer(2, 5),), generator=rng)
    return {"pixels": rng.normal(rng.integer(2, 5), 3), "files": ["a.png"], "labels": labels}


def _moved(student, batch, *args, **kwargs):
    """What `to_device` makes of a batch; the dict itself is a copy, so that the check keeps its own."""
    result = student.to_device(dict(batch), *args, **kwargs)
    if not isinstance(result, dict):
        raise CannotJudge(f"`to_device` returns {kind(result)}, a dict is asked")
    if any(key in batch and key not in result for key in ("pixels", "labels", "values")):
        raise CannotJudge("the result of `to_device` lacks a tensor of the batch")
    return result


def _all_on(result, asked, call):
    for key in ("pixels", "labels"):
        value = result[key]
        if isinstance(value, torch.Tensor):
            place = claims(value).device
        else:
            require(type_name(value) == "Tensor", f"{call} gives something that is no tensor under {key}")
            place = str(value.device)
        require(place == asked, f"{call} leaves a tensor on {place}, {asked} is asked")


def _names(node):
    """The words in a piece of code that could name a device."""
    match node:
        case ast.Constant(value=str(text)):
            return {text.split(":")[0].strip()}
        case ast.Attribute(attr=name):
            return {name}
        case ast.Import(names=names):
            return {part for alias in names for part in alias.name.split(".")}
        case ast.ImportFrom(module=module, names=names):
            return {*(module or "").split("."), *(alias.name for alias in names)}
    return set()
