"""Why layers and losses of `torch.nn` cannot take what they are given."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch

from grader.drawing.explanation_parts import (
    MOST_READ,
    Found,
    dtype_name,
    explain_unequal_dtypes,
    misfits_drawing,
    named_shapes,
    remedy,
)
from grader.drawing.failures import FailedCall, Operand
from grader.model.score import pluralize

_SPACE = {"conv1d": ("length",), "conv2d": ("height", "width"), "conv3d": ("depth", "height", "width")}
"""Convolutions, and their dims of space."""


def explain_layer(failed: FailedCall, operands: Sequence[Operand]) -> Found | None:
    """Return why a layer of `torch.nn` raised; None if that is unknown.

    It is unknown if the call was not one of a layer, or if its operands show no reason.
    """
    if len(operands) < 2:
        return None
    first, weight = operands[:2]
    match failed.name:
        case name if name in _SPACE:
            groups = failed.kwargs.get("groups", failed.args[6] if len(failed.args) > 6 else 1)
            return _convolution(operands, name, groups)
        case "linear":
            return _linear(operands)
        case "embedding":
            return _embedding(first, weight)
        case "batch_norm":
            return _batch_norm(first, weight.shape[0])
        case "layer_norm":
            sizes = failed.kwargs.get("normalized_shape", failed.args[1] if len(failed.args) > 1 else ())
            return _layer_norm(first, tuple(sizes)) if isinstance(sizes, tuple | list) else None
    return None


def _convolution(operands: Sequence[Operand], name: str, groups: int) -> Found | None:
    """Return why a convolution cannot take its input; None if that is not the reason.

    The input has the wrong number of channels or dims, or the wrong dtype.
    """
    first, weight = operands[:2]
    if len({one.value.dtype for one in operands}) > 1:
        return explain_unequal_dtypes(operands, f"{name} needs operands of one dtype")
    space = len(_SPACE[name])
    if len(first.shape) not in (space + 1, space + 2):
        dims = ", ".join(("channels", *_SPACE[name]))
        takes = f"{name} takes an input of dims ({dims}), or a batch of such inputs, with one dim before"
        return [f"{takes}: {first.name} {first.shape} has {pluralize(len(first.shape), 'dim')}."], None
    channels, dim = weight.shape[1] * groups, len(first.shape) - space - 1
    if first.shape[dim] == channels:
        return None
    takes = f"The layer takes {pluralize(channels, 'channel')}, in dim {dim}"
    said = [
        f"{takes}; {first.name} {first.shape} has {first.shape[dim]} there.",
        *_channels_remedy(first, channels, dim),
    ]
    return said, misfits_drawing((first, [dim]), (weight, [1])) if groups == 1 else None


def _channels_remedy(first: Operand, channels: int, dim: int) -> Iterator[str]:
    """Yield a sentence that proposes `movedim` if an input has its channels in the last dim.

    For an x of shape (8, 32, 32, 3) it is "Try: x.movedim(-1, 1), which has shape (8, 3, 32, 32)."

    Args:
        first: the input of the layer; without its source code, the function yields nothing.
        channels: the number of channels that the layer takes.
        dim: the dim in which the layer takes them.
    """
    if first.shape[-1] == channels and first.code:
        shape = (*first.shape[:dim], channels, *first.shape[dim:-1])
        yield f"Try: {first.code}.movedim(-1, {dim}), which has shape {shape}."


def _linear(operands: Sequence[Operand]) -> Found | None:
    """Return why a linear layer cannot take its input; None if that is not the reason.

    The input has a last dim of the wrong size, or the wrong dtype.
    """
    first, weight = operands[:2]
    if len({one.value.dtype for one in operands}) > 1:
        return explain_unequal_dtypes(
            operands, "A product of matrices promotes no dtypes, so its operands need the same one"
        )
    features = weight.shape[-1]
    if first.shape[-1:] == (features,):
        return None
    if not first.shape:
        return [f"The layer takes {pluralize(features, 'feature')}, and {first.name} has no dims."], None
    takes = f"The layer takes {pluralize(features, 'feature')}, in the last dim"
    said = [f"{takes}; {first.name} {first.shape} has {first.shape[-1]} there."]
    flat = [dim for dim in range(1, len(first.shape) - 1) if math.prod(first.shape[dim:]) == features]
    if flat and first.code:
        said.append(f"Try: {first.code}.flatten({flat[0]}), which has shape {(*first.shape[: flat[0]], features)}.")
    return said, misfits_drawing((first, [-1]), (weight, [-1]))


def _embedding(first: Operand, weight: Operand) -> Found | None:
    if first.value.dtype not in (torch.int64, torch.int32):
        rule = f"Numbers of rows must have dtype int64 or int32, and {first.name} has {dtype_name(first.value)}."
        return [rule, remedy(first, "long()")], None
    rows = weight.shape[0]
    wrong = _first_outside(first.value, rows)
    if wrong is None:
        return None
    has = f"the weight {weight.shape} has {pluralize(rows, 'row')}"
    return [f"Row {wrong} does not exist: {has}, so numbers go from 0 to {rows - 1}."], None


def _batch_norm(first: Operand, features: int) -> Found | None:
    if len(first.shape) < 2 or first.shape[1] == features:
        return None
    takes = f"The layer takes {pluralize(features, 'feature')}, in dim 1"
    said = f"{takes}; {first.name} {first.shape} has {first.shape[1]} there."
    return [said, *(_channels_remedy(first, features, 1) if len(first.shape) > 2 else ())], None


def _layer_norm(first: Operand, sizes: tuple[int, ...]) -> Found | None:
    if not sizes or first.shape[-len(sizes) :] == sizes:
        return None
    last = "the last dim" if len(sizes) == 1 else f"the last {len(sizes)} dims"
    return [f"The layer takes sizes {sizes} in {last}; {first.name} has shape {first.shape}."], None


def _first_outside(index: torch.Tensor, size: int, ignored: int | None = None) -> int | None:
    """Return the first number of a row or a class that does not exist; None if all exist.

    It is an element that is neither in `range(size)` nor `ignored`: for `[0, 3]` and size 3 it is 3. Return None also
    for a tensor that is too large to be read, or is on the device `meta`.
    """
    if index.device.type == "meta" or index.numel() > MOST_READ:
        return None
    return next((each for each in index.flatten().tolist() if not 0 <= each < size and each != ignored), None)


def explain_loss(failed: FailedCall, operands: Sequence[Operand]) -> Found | None:
    """Return why a loss of `torch.nn` raised; None if that is unknown.

    It is unknown if the call was not one of a loss, or if its operands show no reason.
    """
    if len(operands) < 2:
        return None
    match failed.name:
        case "binary_cross_entropy" | "binary_cross_entropy_with_logits":
            return _binary_loss(failed.name, operands[0], operands[1])
        case "cross_entropy" | "nll_loss" if operands[0].shape:
            ignored = failed.kwargs.get("ignore_index", -100)
            return _loss_of_classes(failed.name, operands[0], operands[1], ignored)
    return None


def _loss_of_classes(name: str, first: Operand, target: Operand, ignored: int) -> Found | None:
    """Return why a loss cannot take a target of class numbers; None if it can.

    The target has the wrong dtype, shape or values.
    """
    dim = min(len(first.shape) - 1, 1)
    classes, wanted = first.shape[dim], first.shape[:dim] + first.shape[dim + 1 :]
    both = named_shapes([first, target])
    if target.value.is_floating_point() and target.shape == first.shape:  # probabilities
        return None
    if target.value.dtype not in (torch.int64, torch.uint8):
        rule = f"Numbers of classes must have dtype int64, and {target.name} has {dtype_name(target.value)}"
        more = f"; probabilities would have shape {first.shape}" if target.value.is_floating_point() else ""
        return [f"{rule}{more}.", remedy(target, "long()")], None
    if target.shape == wanted:
        wrong = _first_outside(target.value, classes, ignored)
        if wrong is None:
            return None
        has = f"{first.name} {first.shape} has {classes} classes in dim {dim}"
        return [f"Class {wrong} does not exist: {has}, so numbers go from 0 to {classes - 1}."], None
    if target.shape == (*wanted, 1):
        said = f"{name} needs one number of a class for each row: {both}."
        return [said, remedy(target, "squeeze(-1)")], None
    if len(first.shape) > 2 and target.shape == first.shape[:-1]:
        said = f"{name} takes the classes in dim 1, and a target without that dim: {both}."
        return [said, remedy(first, "movedim(-1, 1)")], None
    if target.shape[:1] != wanted[:1]:
        said = f"{name} needs one target for each row: {both}."
        return [said], misfits_drawing((first, [0]), (target, [0])) if target.shape else None
    said = f"{name} takes the classes in dim {dim}, so the target must have shape {wanted}: {both}."
    return [said, *([remedy(target, f"argmax({dim})")] if target.shape == first.shape else [])], None


def _binary_loss(name: str, first: Operand, target: Operand) -> Found | None:
    """Return why a binary loss cannot take its operands; None if that is not the reason.

    They have the wrong shape, dtype or values.
    """
    if target.shape != first.shape:
        said = f"The target must have the shape of the input: {first.name} {first.shape}, {target.name} {target.shape}."
        same = first.value.numel() == target.value.numel()
        return [said, *([remedy(target, f"reshape{first.shape}")] if same else [])], None
    if not target.value.is_floating_point():
        said = f"The target needs floating point numbers, and {target.name} has {dtype_name(target.value)}."
        return [said, remedy(target, "float()")], None
    values = first.value.detach()
    if name != "binary_cross_entropy" or values.device.type == "meta":
        return None
    others = values[(values < 0) | (values > 1)]
    if not others.numel():
        return None
    said = f"{name} takes probabilities from 0 to 1, and {first.name} has others, such as {others[0].item():.4g}."
    return [said, f"Try: {name}_with_logits, which takes any numbers."], None
