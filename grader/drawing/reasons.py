"""Why a call of PyTorch raised: which operands, which dims, and what to try, with a picture.

What is wrong is decided by the operands, not by the words of the error. Only autograd's two errors about saved values
are known by their words, because nothing else shows them. Each reason is a function of the call and its operands, which
returns sentences and a drawing, or None where it is not the reason.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import TracebackType
from typing import Any

import torch

from grader.drawing.drawing import Drawing
from grader.drawing.explanation_parts import (
    MOST_READ,
    Found,
    dtype_name,
    explain_unequal_dtypes,
    misfits_drawing,
    named_shapes,
    shapes_drawing,
)
from grader.drawing.facts import drawn_tensors
from grader.drawing.failures import FailedCall, Operand, mutates, operands_of, student_expression
from grader.drawing.layers import explain_layer, explain_loss
from grader.model.picture import NamedShape, Picture, Shapes
from grader.model.score import pluralize

_MATMUL = ("matmul", "mm", "bmm", "mv", "dot", "addmm", "__matmul__", "__rmatmul__", "inner", "baddbmm")
_LISTS = ("cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack")
_VIEWS = ("view", "reshape", "unflatten", "view_as", "reshape_as")
_INDEX = ("__getitem__", "__setitem__", "index_select", "gather", "take", "select")
_WITH_DIM = ("sum", "mean", "prod", "max", "min", "argmax", "argmin", "softmax", "log_softmax", "cumsum", "cumprod")
_ALSO_WITH_DIM = ("sort", "argsort", "any", "all", "std", "var", "unbind", "flip", "select", "narrow", "size")
_NEEDS_FLOAT = ("mean", "std", "var", "softmax", "log_softmax", "norm", "median", "nanmean", "requires_grad_")
_FLOAT_MODULES = ("torch.linalg", "torch.Tensor.mean")
_OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder",
    "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "eq": "eq", "ne": "ne",
}  # fmt: skip
"""Python's operators, without underscores, and the functions of PyTorch that they call."""
_ALSO_BROADCAST = (
    *("floor_divide", "copy", "masked_select", "masked_scatter", "broadcast_tensors", "isclose", "allclose", "dist"),
    *("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cosine_similarity", "pairwise_distance"),
)
"""Functions that broadcast, and whose operators have no tag that says so."""
_SAVED_CHANGED = "has been modified by an inplace operation"
_SAVED_FREED = "backward through the graph a second time"
_CHANGED = re.compile(r"\[[\w.]+ \[(?P<shape>[\d, ]*)\]\].* is at version (?P<version>\d+);")


@dataclass(frozen=True)
class Explanation:
    """The reason why a call raised.

    Attributes:
        where: the file and the line of the student's code, or "".
        source: the expression that raised, or "".
        sentences: sentences on what is wrong, and what to try.
        drawing: the operands, or None.
    """

    where: str
    source: str
    sentences: tuple[str, ...]
    drawing: Drawing | None = None

    def lines(self, width: int, *, plain: bool = False) -> Iterator[str]:
        """Yield the explanation as lines of text.

        Args:
            width: the columns of the drawing; sentences are not wrapped.
            plain: True if the drawing is sentences, for screen readers.
        """
        if self.where:
            yield f"{self.where}: {self.source}" if self.source else self.where
        if self.drawing is not None:
            yield from (f"  {line}" for line in self.drawing.lines(width - 2, plain=plain))
        yield from self.sentences


def _memory_drawing(operands: Sequence[Operand]) -> Drawing:
    values = {one.name: one.value for one in operands}
    facts = tuple(drawn_tensors(values))
    return Drawing(Picture(views=tuple(one.view for one in facts if one.view is not None)), facts)


def _explain_devices(failed: FailedCall, operands: Sequence[Operand]) -> Found | None:
    """Return sentences about operands on several devices; None if all are on one."""
    # A tensor without dims may lie on the CPU.
    devices = list(dict.fromkeys(str(one.value.device) for one in operands if one.value.dim()))
    if len(devices) < 2:
        return None
    where = "; ".join(f"{one.name} is on {one.value.device}" for one in operands)
    first = operands[0]
    others = [one for one in operands if one.value.device != first.value.device]
    device = f"{first.code}.device" if first.code else repr(str(first.value.device))
    moved = next((one for one in (*others, first) if one.code), None)
    said = [f"All operands must be on one device: {where}."]
    if moved is first:  # the others are a layer's
        device = repr(str(others[0].value.device))
    if moved is not None:
        said.append(f"Try: {moved.code}.to({device}), or make it there with device={device}.")
    return said, None


def _explain_in_place(failed: FailedCall, operands: Sequence[Operand]) -> Found | None:
    """Return why a tensor cannot be changed in place; None if it can be.

    It is a leaf that requires grad, the result has another dtype, or several indices read the same element.
    """
    if not operands or not mutates(failed.name):
        return None
    first = operands[0]
    value = first.value
    if (
        torch.is_grad_enabled()
        and value.requires_grad
        and (value.is_leaf or (value._is_view() and _base_is_leaf(value)))
    ):
        return [
            f"{first.name} is a leaf that requires grad, so autograd forbids in-place changes of it.",
            f"Try: with torch.no_grad(): around the change, or a new tensor, such as {first.name} = {first.name} + ...",
        ], None
    result = _dtype_if_not_in_place(failed)
    if result is not None and not torch.can_cast(result, value.dtype):
        return [
            f"The result has dtype {dtype_name(result)}, and an in-place change of {first.name} keeps its dtype "
            f"{dtype_name(value)}.",
            f"Try: {first.code}.to({result}) first, or make a new tensor instead.",
        ], None
    strides = value.stride() if value.layout is torch.strided else ()
    if any(size > 1 and step == 0 for size, step in zip(value.shape, strides, strict=False)):
        return [
            f"Several indices of {first.name} read the same element of its storage, so it cannot be written in place.",
            f"Try: {first.code}.clone() first.",
        ], _memory_drawing([first])
    return None


def _dtype_if_not_in_place(failed: FailedCall) -> torch.dtype | None:
    """Return the dtype of the result if a call were not in place; None if unknown.

    For `x += y` it is the dtype of `x + y`. If x cannot hold that dtype, this is why the call raised.
    """
    function = getattr(torch.Tensor, _name_if_not_in_place(failed.name), None)
    if function is None:
        return None
    # On one element of each: so shapes that do not fit raise nothing, and nothing is computed.
    args = [
        torch.empty((1,) * min(each.dim(), 1), dtype=each.dtype, device="meta")
        if isinstance(each, torch.Tensor)
        else each
        for each in failed.args
    ]
    try:
        result = function(*args, **failed.kwargs)
    except (RuntimeError, TypeError, ValueError, IndexError):  # it has other arguments, or fails for another reason
        return None
    return result.dtype if isinstance(result, torch.Tensor) else None


def _base_is_leaf(value: torch.Tensor) -> bool:
    base = value._base
    return base is not None and base.is_leaf and base.requires_grad


def _explain_matmul(failed: FailedCall, operands: Sequence[Operand]) -> Found | None:
    """Return why the operands of a product of matrices do not fit; None if they do.

    They have the wrong number of dims, sizes that do not match, or different dtypes. An example is "x (2, 3) @ w (4,
    5): dim -1 of x is 3, and dim -2 of w is 4; they must be equal."
    """
    if failed.name not in _MATMUL or len(operands) < (1 if failed.name in ("mm", "bmm") else 2):
        return None
    if len(operands) == 1:  # multiplied by itself
        operands = [operands[0], operands[0]]
    wanted = {"mm": (2, 2), "bmm": (3, 3), "mv": (2, 1), "dot": (1, 1)}.get(failed.name)
    dims = tuple(len(one.shape) for one in operands[:2])
    if wanted is not None and dims != wanted:
        each = " and ".join(map(str, wanted))
        return [f"{failed.name} takes tensors of {each} dims: {named_shapes(operands[:2])}. Try: matmul or @."], None
    if len({one.value.dtype for one in operands}) > 1:
        return explain_unequal_dtypes(
            operands, "A product of matrices promotes no dtypes, so its operands need the same one"
        )
    left, right = operands[-2:] if failed.name in ("addmm", "baddbmm", "addmv") else operands[:2]
    inner = left.shape[-1] if left.shape else None
    outer = right.shape[-2 if len(right.shape) > 1 else -1] if right.shape else None
    if inner is None or outer is None:
        scalar = left if not left.shape else right
        return [f"{scalar.name} has no dims, and a product of matrices needs at least one. Try: * instead of @."], None
    if inner != outer:
        text = f"{left.name} {left.shape} @ {right.name} {right.shape}: dim -1 of {left.name} is {inner}"
        dim = -2 if len(right.shape) > 1 else -1
        sentences = [f"{text}, and dim {dim} of {right.name} is {outer}; they must be equal."]
        if len(right.shape) > 1 and inner == right.shape[-1] and left.code and right.code:
            sentences.append(f"Try: {left.code} @ {right.code}.mT, which swaps the last two dims of {right.name}.")
        elif len(left.shape) > 1 and left.shape[-2] == outer and left.code and right.code:
            sentences.append(f"Try: {left.code}.mT @ {right.code}, which swaps the last two dims of {left.name}.")
        return sentences, misfits_drawing((left, [-1]), (right, [dim]))
    batch = [one.shape[:-2] for one in (left, right)]
    if _broadcast_shape(batch) is None:
        return [f"The dims before the last two are broadcast, and {batch[0]} and {batch[1]} clash."], shapes_drawing(
            [Operand(f"{one.name} (without its last 2 dims)", one.value[..., 0, 0]) for one in (left, right)],
            broadcast=True,
        )
    return None


def _explain_lists(failed: FailedCall, operands: Sequence[Operand]) -> Found | None:
    """Return why `stack`, `cat` or the like cannot join these tensors; None if that is not the reason."""
    if failed.name not in _LISTS or len(operands) < 2:
        return None
    dim = failed.kwargs.get("dim", failed.args[1] if len(failed.args) > 1 else 0)
    if failed.name == "stack":
        what = "stack needs tensors of one shape, because it adds a dim"
        return [
            f"{what}: {named_shapes(operands)}.",
            "Try: cat, which joins along a dim that is there.",
        ], shapes_drawing(operands, broadcast=False)
    dims = {len(one.shape) for one in operands}
    if len(dims) > 1:
        return [
            f"{failed.name} needs tensors with equally many dims: {named_shapes(operands)}.",
            "Try: unsqueeze the smaller one.",
        ], shapes_drawing(operands, broadcast=False)
    (count,) = dims
    if not isinstance(dim, int) or not -count <= dim < count:
        return [f"dim={dim} does not exist: the tensors have {count} dims."], None
    own = dim % count
    bad = [at for at in range(count) if at != own and len({one.shape[at] for one in operands}) > 1]
    if bad:
        rule = f"{failed.name} joins along dim {own}; all others must be equal"
        sentences = [f"{rule}. Dim {bad[0]} is not: {named_shapes(operands)}."]
        if len(bad) == 1 and len({one.shape[own] for one in operands}) == 1:
            sentences.append(f"Try: dim={bad[0]}.")
        return sentences, misfits_drawing(*((one, bad) for one in operands))
    return None


def _explain_views(failed: FailedCall, operands: Sequence[Operand]) -> Found | None:
    """Return why a tensor cannot get a new shape; None if it can.

    The reason is the number of its elements, or its strides.
    """
    if failed.name not in _VIEWS or not operands:
        return None
    first = operands[0]
    sizes = _sizes(failed.args[1:], failed.kwargs)
    if sizes is None:
        return None
    count, given = first.value.numel(), math.prod(size for size in sizes if size != -1)
    left = sizes.count(-1)
    fits = count == given if not left else left == 1 and given and count % given == 0
    if not fits:
        how = f"the sizes multiply to {given:,}" if not left else f"{count:,} is not divisible by {given:,}"
        if left > 1:
            how = "only one size may be -1"
        return [f"{first.name} {first.shape} has {count:,} elements, and shape {sizes} does not fit: {how}."], None
    if failed.name == "view" and first.value.layout is torch.strided:
        return [
            f"view makes no copy, and no strides read the storage of {first.name} as {sizes}: "
            "its elements do not lie in that order.",
            f"Try: {first.code}.reshape{sizes if len(sizes) > 1 else f'({sizes[0]})'}, which copies where it must, "
            f"or {first.code}.contiguous() first.",
        ], _memory_drawing([first])
    return None


def _sizes(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int, ...] | None:
    given: Any = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list, torch.Size)) else args
    given = given or kwargs.get("shape") or kwargs.get("size")
    if isinstance(given, (tuple, list)) and given and all(isinstance(size, int) for size in given):
        return tuple(given)
    return None


def _explain_indexing(failed: FailedCall, operands: Sequence[Operand]) -> Found | None:
    """Return what is wrong with an index into the first operand; None if that is not the reason."""
    if failed.name not in _INDEX or not operands or len(failed.args) < 2:
        return None
    first = operands[0]
    if failed.name == "gather":
        at = failed.kwargs.get("index", failed.args[2] if len(failed.args) > 2 else None)
        return _gathered(first, at) if isinstance(at, torch.Tensor) else None
    if failed.name not in ("__getitem__", "__setitem__"):
        return None
    index = failed.args[1]
    parts = index if isinstance(index, tuple) else (index,)
    counts = [part for part in parts if part is not None and part is not Ellipsis]
    used = sum(part.dim() if _is_mask(part) else 1 for part in counts)
    if used > len(first.shape):
        have = pluralize(len(first.shape), "dim")
        return [f"{first.name} {first.shape} has {have}, and the index has {pluralize(used, 'part')}."], None
    for dim, part in enumerate(parts):
        if part is Ellipsis or part is None:
            break
        if (found := _explain_index_part(first, dim, part)) is not None:
            return found
    tensors = [Operand(f"index {dim}", part) for dim, part in enumerate(parts) if _is_positions(part)]
    if len(tensors) > 1 and _broadcast_shape([one.shape for one in tensors]) is None:
        return ["Index tensors are broadcast to each other, and these clash."], shapes_drawing(tensors, broadcast=True)
    return _explain_new_values(failed, first, index) if failed.name == "__setitem__" else None


def _is_mask(part: Any) -> bool:
    return isinstance(part, torch.Tensor) and part.dtype is torch.bool


def _is_positions(part: Any) -> bool:
    return isinstance(part, torch.Tensor) and part.dtype is not torch.bool


def _explain_index_part(first: Operand, dim: int, part: Any) -> Found | None:
    """Return what is wrong with one part of an index; None if nothing is.

    A part is, for example, `mask` in `x[0, mask]`. An example is "Index 5 is out of range: dim 1 of x (2, 3) has size
    3, so indices go from -3 to 2."
    """
    if _is_mask(part) and part.dim():
        want = first.shape[dim : dim + part.dim()]
        if tuple(part.shape) == want:
            return None
        said = f"A mask needs the shape of what it selects from, {want} of {first.name}; it has {tuple(part.shape)}."
        return [said], shapes_drawing([first, Operand("the mask", part)], broadcast=False)
    if isinstance(part, torch.Tensor) and (part.is_floating_point() or part.is_complex()):
        kind = dtype_name(part)
        remedy = "Try: .long() for positions, or a comparison for a mask."
        return [f"An index must be an integer or a bool; this one has dtype {kind}.", remedy], None
    values: list[Any] = []
    if _is_positions(part) and part.numel() <= MOST_READ:
        values = part.flatten().tolist()
    elif isinstance(part, int) and not isinstance(part, bool):
        values = [part]
    size = first.shape[dim]
    wrong = [each for each in values if not -size <= each < size]
    if not wrong:
        return None
    where = f"dim {dim} of {first.name} {first.shape} has size {size}"
    return [f"Index {wrong[0]} is out of range: {where}, so indices go from {-size} to {size - 1}."], None


def _gathered(first: Operand, index: torch.Tensor) -> Found | None:
    if index.dim() != first.value.dim():
        need = f"gather needs an index with as many dims as {first.name} {first.shape}"
        return [f"{need}; it has shape {tuple(index.shape)}."], None
    return _index_dtype(index) if index.dtype is not torch.int64 else None


def _explain_new_values(failed: FailedCall, first: Operand, index: Any) -> Found | None:
    """Return why `values` in `x[index] = values` do not fit; None if that is unknown.

    An example is "The new values must broadcast to the shape of what they replace, (3,)."
    """
    if len(failed.args) < 3 or not isinstance(failed.args[2], torch.Tensor):
        return None
    try:
        target = Operand(f"{first.name}[...]", first.value.detach()[index])
    except (IndexError, RuntimeError, TypeError):  # the index itself is wrong, in a way that is not known here
        return None
    rows = [target, Operand("the new values", failed.args[2])]
    said = f"The new values must broadcast to the shape of what they replace, {target.shape}."
    return [said], shapes_drawing(rows, broadcast=True)


def _index_dtype(index: torch.Tensor) -> Found:
    kind = dtype_name(index)
    return [f"The index must have dtype int64, got {kind}.", "Try: .long()."], None


def _explain_dtypes(failed: FailedCall, operands: Sequence[Operand]) -> Found | None:
    """Return why a function does not take the dtype of its first operand; None if that is not the reason."""
    if not operands:
        return None
    first = operands[0]
    kind = dtype_name(first.value)
    if failed.name in ("__neg__", "neg", "__sub__", "__rsub__", "sub") and any(
        one.value.dtype is torch.bool for one in operands
    ):
        return [
            f"Bools have no minus: {first.name} has dtype {kind}.",
            "Try: ~mask for not, a ^ b for a difference, or .int() to count.",
        ], None
    if not first.value.is_floating_point() and not first.value.is_complex():
        makes_float = failed.name in _NEEDS_FLOAT or failed.full_name.startswith(_FLOAT_MODULES)
        if makes_float:
            return [
                f"{failed.name} needs floating point numbers: {first.name} has dtype {kind}.",
                f"Try: {first.code}.float().",
            ], None
    return None


def _explain_expanding(failed: FailedCall, operands: Sequence[Operand]) -> Found | None:
    """Return why `expand`, `permute` or the like cannot take these dims; None if that is not the reason."""
    if (
        failed.name not in ("expand", "broadcast_to", "expand_as", "permute", "transpose", "squeeze", "unsqueeze")
        or not operands
    ):
        return None
    first = operands[0]
    count = len(first.shape)
    if failed.name in ("expand", "broadcast_to"):
        sizes = _sizes(failed.args[1:], failed.kwargs)
        if sizes is None:
            return None
        wanted = NamedShape("the new shape", tuple(max(size, 0) for size in sizes))
        rows = (NamedShape(first.name, first.shape), wanted)
        return [
            f"{failed.name} stretches dims of size 1 only, and adds dims at the left: "
            f"{first.name} {first.shape} cannot become {sizes}."
        ], Drawing(Picture(shapes=Shapes(rows, broadcast=True)))
    if failed.name == "permute":
        given = _sizes(failed.args[1:], {"shape": failed.kwargs.get("dims")})
        return [f"permute needs each of the {count} dims of {first.name} once, got {given}."], None
    dims = [each for each in failed.args[1:] if isinstance(each, int)]
    room = count + (failed.name == "unsqueeze")
    wrong = [dim for dim in dims if not -room <= dim < room]
    return _no_dim(first, wrong[0], room) if wrong else None


def _explain_dim_argument(failed: FailedCall, operands: Sequence[Operand]) -> Found | None:
    """Return a sentence on a `dim` that an operand lacks; None if that is not the reason.

    An example is "dim 2 does not exist: x (2, 3) has 2 dims; dims go from -2 to 1 here."
    """
    if not operands or operands[0].value is not next(iter(failed.args), None):
        return None
    first, name = operands[0], failed.name
    dim = failed.kwargs.get(
        "dim", failed.args[1] if name in (*_WITH_DIM, *_ALSO_WITH_DIM) and len(failed.args) > 1 else None
    )
    room = len(first.shape) + (name == "unsqueeze")
    dims = (
        [dim] if isinstance(dim, int) and not isinstance(dim, bool) else dim if isinstance(dim, (tuple, list)) else []
    )
    wrong = [each for each in dims if isinstance(each, int) and not -max(room, 1) <= each < max(room, 1)]
    return _no_dim(first, wrong[0], room) if wrong and name not in ("chunk", "split") else None


def _no_dim(first: Operand, dim: int, room: int) -> Found:
    count = pluralize(len(first.shape), "dim")
    if not first.shape and room == 0:
        return [f"dim {dim} does not exist: {first.name} is one number without dims."], None
    return [
        f"dim {dim} does not exist: {first.name} {first.shape} has {count}; dims go from {-room} to {room - 1} here."
    ], None


def _explain_einsum(failed: FailedCall, operands: Sequence[Operand]) -> Found | None:
    """Return why an equation of einsum does not fit its operands; None if that is not the reason."""
    equation = failed.args[0] if failed.name == "einsum" and failed.args else None
    if not isinstance(equation, str) or "..." in equation:
        return None
    parts = equation.replace(" ", "").split("->")[0].split(",")
    values = [value for value in failed.args[1:] if isinstance(value, torch.Tensor)]
    if len(parts) != len(values):
        return [f"{equation!r} names {pluralize(len(parts), 'operand')}, and einsum was given {len(values)}."], None
    sizes: dict[str, int] = {}
    for letters, value in zip(parts, values, strict=True):
        if len(letters) != value.dim():
            return [
                f"{letters!r} names {pluralize(len(letters), 'dim')}, and that operand has shape {tuple(value.shape)}."
            ], None
        for letter, size in zip(letters, value.shape, strict=True):
            if sizes.setdefault(letter, size) not in (size, 1) and size != 1:
                return [
                    f"{letter!r} stands for sizes {sizes[letter]} and {size} in {equation!r}: {named_shapes(operands)}."
                ], None
    return None


def _explain_one_value(failed: FailedCall, operands: Sequence[Operand]) -> Found | None:
    """Return why a tensor is not a single number or bool; None if that is not the reason.

    The tensor has another number of elements than 1.
    """
    if failed.name not in ("item", "__bool__", "__float__", "__int__", "__index__") or not operands:
        return None
    first = operands[0]
    if first.value.numel() == 1:
        return None
    what = "a condition needs one bool" if failed.name == "__bool__" else "one number is needed"
    remedy = ".all() or .any()" if failed.name == "__bool__" else "an index, .sum() or .tolist()"
    return [f"{first.name} {first.shape} has {first.value.numel():,} elements, and {what}.", f"Try: {remedy}."], None


def _explain_autograd(failed: FailedCall, operands: Sequence[Operand]) -> Found | None:
    """Return why there is no gradient, or no graph any more; None if the call is not about gradients."""
    if not operands:
        return None
    first = operands[0]
    text = str(failed.error)
    if failed.name in ("numpy", "__array__") and first.value.requires_grad:
        return [
            f"{first.name} requires grad, and NumPy records no gradients.",
            f"Try: {first.code}.detach().numpy()." if first.code else "Try: .detach() of what NumPy is given.",
        ], None
    if failed.name == "__deepcopy__" and not first.value.is_leaf:
        return [f"{first.name} is not a leaf: it is part of a graph. Try: {first.code}.detach().clone()."], None
    if failed.name not in ("backward", "grad"):
        return None
    if not first.value.requires_grad:
        return [
            f"{first.name} does not require grad: no tensor that it was computed from does, or autograd was off.",
            "Try: requires_grad=True for the parameters; look for .detach(), torch.no_grad() and integers on the way.",
        ], None
    if first.value.numel() != 1 and len(failed.args) < 2 and failed.kwargs.get("gradient") is None:
        return [
            f"{first.name} {first.shape} is not one number, so it has no gradient by itself.",
            f"Try: {first.code}.sum().backward() or {first.code}.mean().backward().",
        ], None
    if _SAVED_FREED in text:
        return [
            "The graph was freed by the first backward.",
            "Try: compute the loss again, or backward(retain_graph=True) the first time.",
        ], None
    if _SAVED_CHANGED in text:
        return _sentences_of_changed_tensor(failed, text), None
    return None


def _sentences_of_changed_tensor(failed: FailedCall, text: str) -> list[str]:
    """Return sentences about a tensor that backward needs and that was changed in place.

    They name the line of the change, if it is known.

    Args:
        failed: the call of backward, with the changes in place that were recorded before it.
        text: the message of the error that backward raised.
    """
    found, made = _CHANGED.search(text), re.search(r"output \d+ of (\w+?)(?:Backward\d*)?,", text)
    kept = "A tensor that backward needs was changed in place after it was used"
    if made is not None:
        kept = f"backward needs the result of {made[1]}, which was changed in place afterwards"
    changed: list[str] = []
    if found is not None:
        shape = tuple(int(size) for size in found["shape"].split(", ") if size)
        operator, version = made[1] if made is not None else "", int(found["version"])
        changed = [one.where for one in failed.changes if one.matches(operator, shape, version)]
    if len(set(changed)) == 1:
        return [f"{kept}, by {changed[0]}.", "Try: a new tensor there (x = x + y in place of x += y)."]
    return [
        f"{kept}.",
        "Try: replace the change in place (such as x += y, x[0] = y, x.relu_()) by a new tensor (x = x + y), "
        "or run with torch.autograd.detect_anomaly() to see which.",
    ]


def _broadcast_shape(shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    try:
        return tuple(torch.broadcast_shapes(*shapes))
    except RuntimeError:
        return None


def _explain_broadcast(failed: FailedCall, operands: Sequence[Operand]) -> Found | None:
    """Return why operands cannot be broadcast; None if that is not the reason.

    An example is "Broadcasting aligns shapes at the right: dim -1 has 3 and 4, which are neither equal nor 1." A
    function that works in place raises, too, if the result would have another shape than the first operand.
    """
    if len(operands) < 2 or not _broadcasts(failed.name):
        return None
    shapes = [one.shape for one in operands]
    outcome = _broadcast_shape(shapes)
    if outcome is not None:
        if mutates(failed.name) and outcome != shapes[0]:
            return [
                f"The result has shape {outcome}, and in place {operands[0].name} keeps its shape {shapes[0]}."
            ], shapes_drawing(operands, broadcast=True)
        return None
    longest = max(len(shape) for shape in shapes)
    aligned = [(1,) * (longest - len(shape)) + shape for shape in shapes]
    clash = next(dim for dim in reversed(range(longest)) if len({shape[dim] for shape in aligned} - {1}) > 1)
    sizes = " and ".join(str(size) for size in dict.fromkeys(shape[clash] for shape in aligned) if size != 1)
    sentences = [
        f"Broadcasting aligns shapes at the right: dim {clash - longest} has {sizes}, which are neither equal nor 1."
    ]
    if len(operands) == 2 and not mutates(failed.name):
        sentences += _suggested_dims(operands[0], operands[1])
    return sentences, shapes_drawing(operands, broadcast=True)


def _broadcasts(name: str) -> bool:
    """Return whether a function is elementwise, so that its operands are broadcast.

    PyTorch's own tags say so, and `_ALSO_BROADCAST` lists more of these functions.
    """
    plain = _name_if_not_in_place(name)
    if plain in _ALSO_BROADCAST:
        return True
    packet = getattr(torch.ops.aten, plain, None)
    return packet is not None and any(torch.Tag.pointwise in getattr(packet, each).tags for each in packet.overloads())


def _name_if_not_in_place(name: str) -> str:
    """Return the name of a function's out-of-place form: "add" for "__iadd__" and "add_"."""
    plain = name.strip("_")
    if name.startswith("__") and plain not in _OPERATORS and plain[1:] in _OPERATORS:  # __iadd__, __radd__
        plain = plain[1:]
    return _OPERATORS.get(plain, plain)


def _suggested_dims(left: Operand, right: Operand) -> Iterator[str]:
    """Yield a sentence on where to add dims of size 1 so that two shapes fit.

    For x of shape (3, 4) and w of shape (3,) it is "Try: w.unsqueeze(-1), which has shape (3, 1); the result has shape
    (3, 4)." For two vectors it says how to get all pairs. If several ways fit, nothing is yielded.
    """
    for one, other in ((right, left), (left, right)):
        count, room = len(one.shape), len(other.shape)
        ways = [
            places
            for places in combinations(range(room), count)
            if places and all(size in (1, other.shape[place]) for size, place in zip(one.shape, places, strict=True))
        ]
        if len(ways) != 1 or not one.code or count >= room:
            continue
        # Dims of size 1 are added at the left without being asked for.
        new = [one.shape[ways[0].index(place)] if place in ways[0] else 1 for place in range(ways[0][0], room)]
        index = ", ".join(":" if place in ways[0] else "None" for place in range(ways[0][0], room))
        how = "unsqueeze(-1)" if index == ":, None" else ""
        yield (
            f"Try: {one.code}.{how}, " if how else f"Try: {one.code}[{index}], "
        ) + f"which has shape {tuple(new)}; the result has shape {other.shape}."
        return
    if len(left.shape) == len(right.shape) == 1 and right.code:
        pairs = (right.shape[0], left.shape[0])
        yield f"For all pairs: {right.code}.unsqueeze(-1), which has shape {(pairs[0], 1)}; the result has {pairs}."


_REASONS: tuple[Callable[[FailedCall, Sequence[Operand]], Found | None], ...] = (
    _explain_autograd, _explain_devices, _explain_dim_argument, _explain_in_place, _explain_einsum, _explain_matmul,
    _explain_lists, _explain_views, _explain_indexing, _explain_dtypes, explain_layer, explain_loss,
    _explain_expanding, _explain_one_value, _explain_broadcast,
)  # fmt: skip
"""All reasons; the first that applies is given."""


def explain_call(failed: FailedCall, traceback: TracebackType | None) -> Explanation | None:
    """Return the explanation of a call that raised; None if its operands show no known reason."""
    frame, node, where = student_expression(failed, traceback)
    operands = operands_of(failed, frame, node)
    for why in _REASONS:
        found = why(failed, operands)
        if found is not None:
            sentences, drawing = found
            return Explanation(where, ast.unparse(node) if node is not None else "", tuple(sentences), drawing)
    return None
