"""Which call of PyTorch raised, with its operands and what the student calls them.

While `Watcher` is on, PyTorch itself hands over each call with its arguments. So operands are known as they were, and
no expression is evaluated a second time.
"""

from __future__ import annotations

import ast
import contextlib
import linecache
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name

_MOST_CHANGES = 10_000
_NOT_IN_PLACE = ("index", "int", "invert", "iter")
_LAYERS = {
    "linear": ("the input", "the weight", "the bias"),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), ("the input", "the weight", "the bias")),
    "embedding": ("the input", "the weight"),
    "batch_norm": ("the input", "the running mean", "the running variance", "the weight", "the bias"),
    "layer_norm": ("the input", "the sizes", "the weight", "the bias"),
}
"""Names for the arguments of functions that layers call; none is source, so no remedy is written with them."""


@dataclass(frozen=True)
class InPlaceChange:
    """A tensor that a call of PyTorch changed in place.

    Attributes:
        tensor: a weak reference to it.
        made_by: autograd's name for the operator that it was the result of before, such as "ExpBackward0", or "".
        where: the student's line that did it, with its source.
    """

    tensor: weakref.ref[torch.Tensor]
    made_by: str
    where: str

    def matches(self, operator: str, shape: tuple[int, ...], version: int) -> bool:
        """Return whether the changed tensor is the one that an error of autograd describes.

        Args:
            operator: the operator that returned the tensor, as the error names it; "" matches any operator.
            shape: the shape in the error.
            version: the version in the error. Each change in place increases the version of a tensor.
        """
        tensor = self.tensor()
        is_it = tensor is not None and tuple(tensor.shape) == shape and tensor._version == version
        return is_it and self.made_by.startswith(operator)


def mutates(name: str) -> bool:
    """Return whether a function of PyTorch changes its first argument, judged by its name.

    `add_`, `__iadd__` and `__setitem__` do; `add` does not.
    """
    return (
        name == "__setitem__"
        or (name.startswith("__i") and name.endswith("__") and name.strip("_") not in _NOT_IN_PLACE)
        or (name.endswith("_") and not name.endswith("__"))
    )


@dataclass(frozen=True)
class FailedCall:
    """A call of PyTorch that raised.

    Attributes:
        function: the function that was called.
        args: its arguments.
        kwargs: its arguments by name.
        error: the exception that it raised.
        changes: the in-place changes before it.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    error: BaseException
    changes: Sequence[InPlaceChange] = ()

    @property
    def name(self) -> str:
        """The function's last name, such as "matmul"."""
        return str(getattr(self.function, "__name__", "")) or "call"

    @property
    def full_name(self) -> str:
        """The function's dotted name, such as "torch.Tensor.matmul"."""
        return resolve_name(self.function) or self.name


class Watcher(TorchFunctionMode):
    """Keeps the last call of PyTorch that raised, with its arguments, and which lines changed tensors in place."""

    def __init__(self) -> None:
        super().__init__()
        self.failed: FailedCall | None = None
        self._changes: deque[InPlaceChange] = deque(maxlen=_MOST_CHANGES)

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Call a function of PyTorch, and watch what it does.

        If it raises, the call is recorded; else the tensors that it changed in place are recorded.
        """
        del types
        tensors = list(_tensors_of([*args, *(kwargs or {}).values()]))
        before = [(each._version, each.grad_fn) for each in tensors]
        try:
            result = func(*args, **(kwargs or {}))
        except Exception as error:
            if self.failed is None or self.failed.error is not error:
                self.failed = FailedCall(func, args, kwargs or {}, error, tuple(self._changes))
            raise
        changed = [
            (weakref.ref(each), made_by.name() if made_by is not None else "")
            for each, (version, made_by) in zip(tensors, before, strict=True)
            if each._version != version
        ]
        if changed:
            where = _student_line(sys._getframe(1))
            self._changes += [InPlaceChange(reference, made_by, where) for reference, made_by in changed]
        return result


def _tensors_of(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    """Yield the tensors among arguments and in lists of them.

    Inference tensors are left out: PyTorch does not count their changes in place.
    """
    for value in values:
        if isinstance(value, torch.Tensor):
            if not value.is_inference():
                yield value
        elif isinstance(value, (tuple, list)):
            yield from (each for each in value if isinstance(each, torch.Tensor) and not each.is_inference())


def _student_line(frame: FrameType | None) -> str:
    """Return the line of the student's code that is running, with its place.

    An example is "Cell In[3], line 2: x += 1". The result is "" if no student code is running.
    """
    while frame is not None and _is_library(frame):
        frame = frame.f_back
    if frame is None:
        return ""
    file, line = frame.f_code.co_filename, frame.f_lineno
    source = linecache.getline(file, line, frame.f_globals).strip()
    where = f"{_shown_file(file)}, line {line}"
    return f"{where}: {source}" if source else where


def ipython_shell() -> Any:
    """Return the IPython shell of this process, or None."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def _shown_file(name: str) -> str:
    """Return the name of a code file for a reader, such as "Cell In[3]" for a notebook's cell."""
    name_of_cell = getattr(getattr(ipython_shell(), "compile", None), "format_code_name", None)  # since IPython 8
    cell = name_of_cell(name) if name_of_cell is not None else None
    return " ".join(cell) if cell else name


# -- where, and which operands


def student_expression(
    failed: FailedCall, traceback: TracebackType | None
) -> tuple[FrameType | None, ast.expr | ast.stmt | None, str]:
    """Return what the student's code was running when a call raised.

    Returns:
        The innermost frame of that code; the expression, such as the syntax tree of `x @ w`; and the place, such as
        "Cell In[3], line 2". They are (None, None, "") without such a frame.
    """
    chosen: TracebackType | None = None
    while traceback is not None:
        if not _is_library(traceback.tb_frame):
            chosen = traceback
        traceback = traceback.tb_next
    if chosen is None:
        return None, None, ""
    code = chosen.tb_frame.f_code
    where = f"{_shown_file(code.co_filename)}, line {chosen.tb_lineno}"
    positions = list(code.co_positions())[chosen.tb_lasti // 2]
    return chosen.tb_frame, expression_at(code.co_filename, positions, chosen.tb_frame.f_globals), where


def _is_library(frame: FrameType) -> bool:
    """Return whether a frame belongs to a library, and not to the student's code.

    The libraries are PyTorch, NumPy, `grader.drawing` and `runpy`.
    """
    name = str(frame.f_globals.get("__name__", ""))
    return name.split(".")[0] in ("torch", "numpy", "runpy") or name.startswith("grader.drawing")


def expression_at(
    file: str, positions: tuple[int | None, int | None, int | None, int | None], names: Mapping[str, Any]
) -> ast.expr | ast.stmt | None:
    """Return the expression or assignment with exactly these positions in a file; else None.

    Args:
        file: the name of the file, as the frame has it.
        positions: first line, last line, first column and end column of the instruction.
        names: the globals of the frame.
    """
    line, last, column, end = positions
    text = "".join(linecache.getlines(file, dict(names)))
    if not text or None in positions:
        return None
    with contextlib.suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.expr | ast.AugAssign | ast.Assign) and (
                node.lineno,
                node.end_lineno,
                node.col_offset,
                node.end_col_offset,
            ) == (line, last, column, end):
                return node
    return None


@dataclass(frozen=True)
class Operand:
    """A tensor among the arguments, and what the student calls it."""

    name: str
    value: torch.Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor."""
        return tuple(self.value.shape)

    @property
    def code(self) -> str:
        """The operand's source in a form that can stand before a dot.

        `x + y` becomes `(x + y)`. It is "" if the operand's name is not source, such as "operand 1".
        """
        try:
            tree = ast.parse(self.name, mode="eval").body
        except SyntaxError:
            return ""
        return self.name if isinstance(tree, ast.Name | ast.Call | ast.Attribute | ast.Subscript) else f"({self.name})"


def operands_of(failed: FailedCall, frame: FrameType | None, node: ast.AST | None) -> list[Operand]:
    """Return the tensors among a call's arguments, in order, each once, with their names.

    For `x @ w.T` the names are "x" and "w.T". A tensor that the code does not name is "operand 1", or for a layer
    "the weight".

    Args:
        failed: the call.
        frame: the frame that made the call.
        node: the call in the source.
    """
    sources = _operand_sources(node, failed.name)
    known = {**(frame.f_globals if frame else {}), **(frame.f_locals if frame else {})}
    by_identity = {id(value): name for name, value in known.items() if isinstance(value, torch.Tensor)}
    tensors: list[tuple[str, torch.Tensor]] = []
    plain = [("", each) for each in failed.args] + list(failed.kwargs.items())
    layers = dict(enumerate(_LAYERS.get(failed.name, ())))
    for place, (key, value) in enumerate(plain):
        source = sources[place] if place < len(sources) and not key else ""
        if isinstance(value, torch.Tensor):
            named = layers.get(place, "") if not key else f"the {key}" if layers else key
            tensors.append((source or named, value))
        elif isinstance(value, (tuple, list)):
            inner = _sources_of_items(node, place)
            for number, each in enumerate(value):
                if isinstance(each, torch.Tensor):
                    tensors.append((inner[number] if number < len(inner) else f"{source or 'list'}[{number}]", each))
    found: list[Operand] = []
    for number, (source, value) in enumerate(tensors, 1):
        name = by_identity.get(id(value)) or source or f"operand {number}"
        if all(other.value is not value for other in found):
            found.append(Operand(name if len(name) <= 40 else f"operand {number}", value))
    return found


def _operand_sources(node: ast.AST | None, function: str) -> list[str]:
    """Return the source of each operand of an expression, in PyTorch's order.

    `x @ w`, `torch.matmul(x, w)` and `x.matmul(w)` all return `["x", "w"]`.

    Args:
        node: the expression; None returns [].
        function: the name of the function that failed. A call of any other function, such as a layer, returns [].
    """
    match node:
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            return [ast.unparse(left), ast.unparse(right)]
        case ast.AugAssign(target=left, value=right):
            return [ast.unparse(left), ast.unparse(right)]
        case ast.Subscript(value=value, slice=index):
            return [ast.unparse(value), ast.unparse(index)]
        case ast.UnaryOp(operand=operand):
            return [ast.unparse(operand)]
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args) if _is_name_of(name, function):
            return [*([] if _is_torch_module(value) else [ast.unparse(value)]), *map(ast.unparse, args)]
        case ast.Call(func=ast.Name(id=name), args=args) if _is_name_of(name, function):
            return [*map(ast.unparse, args)]
    return []


def _is_name_of(name: str, function: str) -> bool:
    return function.strip("_").endswith(name.strip("_"))


def _is_torch_module(node: ast.expr) -> bool:
    text = ast.unparse(node)
    return text in ("torch", "F", "functional") or text.startswith(("torch.nn", "torch.linalg", "torch.special", "nn."))


def _sources_of_items(node: ast.AST | None, place: int) -> list[str]:
    match node:
        case ast.Call(args=args) if place < len(args) and isinstance(args[place], ast.List | ast.Tuple):
            return [ast.unparse(each) for each in args[place].elts]  # type: ignore[attr-defined]
    return []
