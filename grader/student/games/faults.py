"""Tensor faults that can be planted in a text, one at a time; the rest of the text stays as it is.

A view becomes a copy, dims are swapped, `dtype=`, `device=` or `keepdim=` is dropped, a mask is inverted. The checks
decide whether a fault matters, and whether it makes sense for the value at hand.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_DROPPED_KEYWORDS = (
    *("dtype", "device", "keepdim", "keepdims", "correction", "memory_format", "copy", "dim", "requires_grad"),
)
_DROPPED_CALLS = (
    *("clone", "contiguous", "detach", "double", "float", "long", "int", "bool", "to", "type", "t", "flip"),
    *("unsqueeze", "squeeze", "transpose", "permute", "abs", "sqrt"),
)
_DIM_FIRST = (
    *("sum", "mean", "amax", "amin", "argmax", "argmin", "max", "min", "cumsum", "softmax", "unsqueeze", "squeeze"),
    *("select", "size", "flatten", "all", "any", "prod", "norm", "sort", "topk", "unbind", "stack", "cat"),
)
_MAKERS = ("empty", "zeros", "ones", "rand", "randn")
_DTYPE_OF_DATA = ("tensor", "as_tensor", "arange", "full")
_ORDERED = (*_MAKERS, "permute", "reshape", "view", "expand", "movedim", "new_empty", "new_zeros", "new_ones")
_DTYPES = {
    "float64": "float32",
    "float32": "float64",
    "double": "float",
    "int64": "int32",
    "long": "int",
    "bool": "uint8",
}
_REVERSED: dict[type[ast.cmpop], str] = {
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.Eq: "!=",
    ast.NotEq: "==",
}
_OTHERS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
}
_OTHER_FUNCTION = {"max": "min", "min": "max", "any": "all", "all": "any", "reversed": "list"}
_OTHER_ELEMENT = {"0": "-1", "-1": "0", "1": "0"}


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        what: what is wrong, in a clause.
        line: the number of the line.
        source: the whole text with the fault.
    """

    what: str
    line: int
    source: str


@dataclass(frozen=True)
class _Edit:
    start: int
    end: int
    text: str
    what: str


def faults_of(source: str) -> list[Fault]:
    """All faults that can be planted in the functions of a text, each of them once."""
    text = _Text(source)
    faults: dict[str, Fault] = {}
    for function in (node for node in ast.walk(text.tree) if isinstance(node, ast.FunctionDef)):
        for statement in function.body:
            for node in ast.walk(statement):
                for edit in _edits(node, text):
                    changed = source[: edit.start] + edit.text + source[edit.end :]
                    if changed != source and _compiles(changed):
                        line = source.count("\n", 0, edit.start) + 1
                        faults.setdefault(changed, Fault(edit.what, line, changed))
    return list(faults.values())


class _Text:
    """A text with its tree, and where nodes of that stand in it."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tree = ast.parse(source)
        self._lines = source.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def at(self, line: int, column: int) -> int:
        """Where a line and a column of bytes are, in characters."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr | ast.keyword) -> tuple[int, int]:
        """From where to where a node stands."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def of(self, node: ast.expr | ast.keyword) -> str:
        """What stands there."""
        start, end = self.span(node)
        return self.source[start:end]


def _edits(node: ast.AST, text: _Text) -> Iterator[_Edit]:
    match node:
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant | ast.Tuple | ast.List):
            start, end = text.span(value)
            plain = isinstance(value, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
            copied = f"{text.of(value)}.clone()" if plain else f"({text.of(value)}).clone()"
            yield _Edit(start, end, copied, "it returns a copy")
        case ast.Call(func=ast.Name(id=name) as function) if (other := _OTHER_FUNCTION.get(name)) is not None:
            yield _Edit(*text.span(function), other, f"`{other}` stands where you had `{name}`")
        case ast.Call():
            yield from _calls(node, text)
        case ast.Attribute(value=ast.Name(id="torch"), attr=name) if name in _DTYPES:
            start, end = text.span(node)
            yield _Edit(start, end, f"torch.{_DTYPES[name]}", "it uses another dtype")
        case ast.Attribute(value=value, attr="T" | "mT"):
            yield _Edit(text.span(value)[1], text.span(node)[1], "", "a transpose is missing")
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _REVERSED:
            start, end = text.span(left)[1], text.span(right)[0]
            yield _Edit(start, end, f" {_REVERSED[type(operator)]} ", "a comparison is reversed")
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            yield _Edit(*text.span(node), text.of(operand), "a mask is inverted")
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            yield from _swapped(left, right, text, "the operands of a matrix product are swapped")
        case ast.BinOp(left=left, op=operator, right=right) | ast.AugAssign(target=left, op=operator, value=right) if (
            type(operator) in _OTHERS
        ):
            start, end = text.span(left)[1], text.span(right)[0]
            mark = "=" * isinstance(node, ast.AugAssign)
            sign, other = (f"{one}{mark}" for one in _OTHERS[type(operator)])
            changed = text.source[start:end].replace(sign, other)
            yield _Edit(start, end, changed, f"`{other}` stands where you had `{sign}`")
        case ast.Subscript(slice=ast.expr() as index):
            if (element := _OTHER_ELEMENT.get(text.of(index))) is not None:
                yield _Edit(*text.span(index), element, "it takes another element")


def _calls(node: ast.Call, text: _Text) -> Iterator[_Edit]:
    parts: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    parts.sort(key=text.span)
    for place, part in enumerate(parts):
        if isinstance(part, ast.keyword) and part.arg in _DROPPED_KEYWORDS:
            yield _without(parts, place, text)
        if isinstance(part, ast.keyword) and part.arg in ("dim", "axis"):
            yield from _other_dim(part.value, text)
    if not isinstance(node.func, ast.Attribute):
        return
    owner, name = node.func.value, node.func.attr
    of_torch = isinstance(owner, ast.Name) and owner.id in ("torch", "np", "F")
    if name in _DROPPED_CALLS and not of_torch:
        yield _Edit(text.span(owner)[1], text.span(node)[1], "", f"`.{name}(...)` is missing")
    if name.endswith("_") and not name.startswith("_") and not of_torch:
        _, end = text.span(node.func)
        yield _Edit(end - 1, end, "", f"`{name[:-1]}` is not in place; you had `{name}`")
    args = node.args
    if of_torch and name in _DTYPE_OF_DATA and args and not any(part.arg == "dtype" for part in node.keywords):
        end = text.span(parts[-1])[1]
        yield _Edit(end, end, ", dtype=torch.float64", "it uses another dtype")
    if name in _DIM_FIRST and len(args) > of_torch:
        yield from _other_dim(args[int(of_torch)], text)
    if name in _ORDERED and len(args) >= 2 and (not of_torch or name in _MAKERS):
        yield from _swapped(args[0], args[1], text, "two dims are swapped")
    if name == "where" and len(args) == 3:
        yield from _swapped(args[1], args[2], text, "a mask is inverted")
    if name in ("masked_fill", "masked_fill_", "masked_select") and len(args) > of_torch:
        mask = args[int(of_torch)]
        yield _Edit(*text.span(mask), f"~({text.of(mask)})", "a mask is inverted")


def _without(parts: list[ast.expr | ast.keyword], place: int, text: _Text) -> _Edit:
    """A call without one of its arguments, and without the comma that parts it from the others."""
    start, end = text.span(parts[place])
    if place > 0:
        start = text.span(parts[place - 1])[1]
    elif len(parts) > 1:
        end = text.span(parts[1])[0]
    name = getattr(parts[place], "arg", "")
    return _Edit(start, end, "", f"`{name}=` is missing")


def _other_dim(value: ast.expr, text: _Text) -> Iterator[_Edit]:
    others = {"0": "-1", "1": "0", "2": "1", "-1": "0", "-2": "-1"}
    if (other := others.get(text.of(value))) is not None:
        yield _Edit(*text.span(value), other, "it works along another dim")


def _swapped(one: ast.expr, other: ast.expr, text: _Text, what: str) -> Iterator[_Edit]:
    (start, middle), (again, end) = text.span(one), text.span(other)
    if not isinstance(one, ast.Starred) and not isinstance(other, ast.Starred):
        between = text.source[middle:again]
        yield _Edit(start, end, f"{text.of(other)}{between}{text.of(one)}", what)


def _compiles(source: str) -> bool:
    try:
        compile(source, "fault", "exec")
    except (SyntaxError, ValueError):
        return False
    return True
