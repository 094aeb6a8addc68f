"""Tensor faults that can be planted in a text, one at a time; the rest of the text stays as it is.

A view becomes a copy, dims are swapped, `dtype=`, `device=` or `keepdim=` is dropped, a mask is inverted. Where a fault
can be planted, the syntax tree says: a comment or a message that looks like code is left alone. The checks decide
whether a fault matters, and whether it makes sense for the value at hand.
"""

from __future__ import annotations

import ast
import io
import random
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, zip_longest

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
_DTYPES = {"float64": "float32", "float32": "float64", "int64": "int32", "bool": "uint8"}
_DTYPES |= {"double": "float", "long": "int"}
_ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "//": "*"}
_OTHER_SIGN = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "==", **_ARITHMETIC}
_OTHER_SIGN |= {f"{sign}=": f"{other}=" for sign, other in _ARITHMETIC.items()}
_OTHER_FUNCTION = {"max": "min", "min": "max", "any": "all", "all": "any", "reversed": "list"}
_OTHER_DIM: Mapping[int | None, str] = {0: "-1", 1: "0", 2: "1", -1: "0", -2: "-1"}
_OTHER_ELEMENT: Mapping[int | None, str] = {0: "-1", -1: "0", 1: "0"}


@dataclass(frozen=True)
class PlantedFault:
    """A fault planted in a source: what is wrong, on which line, and the source with it.

    Attributes:
        what: a clause that says what is wrong, the same for all faults of one kind.
        line: the number of the line.
        source: the whole text with the fault.
    """

    what: str
    line: int
    source: str


def faults_of(source: str) -> list[PlantedFault]:
    """Return all faults that can be planted in the functions of a Python source.

    For a function whose only line is `return x.sum(dim=0)`, they are "it returns a copy", "`dim=` is missing" and "it
    works along another dim". Of faults that make equal texts, only one is returned.

    Raises:
        SyntaxError, ValueError: it is not valid Python.
    """
    text = _Text(source)
    functions = (node for node in ast.walk(text.tree) if isinstance(node, ast.FunctionDef))
    faults: dict[str, PlantedFault] = {}
    for statement in (statement for function in functions for statement in function.body):
        for fault in (fault for node in _nodes_of(statement) for fault in _faults_at(node, text)):
            faults.setdefault(fault.source, fault)
    return [fault for changed, fault in faults.items() if changed != source and _is_python(changed)]


def shuffle_faults(faults: list[PlantedFault], chance: random.Random) -> list[PlantedFault]:
    """Return faults in a random order, in which the kinds of faults take turns.

    If two faults omit `dim=` and one swaps dims, the first two in the result are of both kinds. So each kind is equally
    likely to come first, however many faults it has.
    """
    kinds: dict[str, list[PlantedFault]] = {}
    for fault in chance.sample(faults, len(faults)):
        kinds.setdefault(fault.what, []).append(fault)
    turns = zip_longest(*chance.sample(list(kinds.values()), len(kinds)))
    return [fault for turn in turns for fault in turn if fault is not None]


def _nodes_of(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement, except those inside f-strings.

    Python 3.11 does not know the positions of those.
    """
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop(0)
        yield node
        if not isinstance(node, ast.JoinedStr):
            todo += ast.iter_child_nodes(node)


class _Text:
    """A student's source with its syntax tree, in which the games plant faults.

    Its methods find where nodes and operators are in the text.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.tree = ast.parse(source)
        self._lines = list(io.StringIO(source, newline=""))
        self._starts = [0, *accumulate(map(len, self._lines))]
        tokens = tokenize.generate_tokens(iter(self._lines).__next__)
        signs = (token for token in tokens if token.type == tokenize.OP and token.string in _OTHER_SIGN)
        self._signs = [(self._starts[token.start[0] - 1] + token.start[1], token.string) for token in signs]

    def span(self, node: ast.expr | ast.keyword) -> tuple[int, int]:
        """Return the positions at which a node begins and ends in the text, in characters.

        For `a + b` in the text `y = a + b` they are (4, 9).
        """
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        places = ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
        start, end = (self._starts[row - 1] + len(self._lines[row - 1].encode()[:at].decode()) for row, at in places)
        return start, end

    def source_of(self, node: ast.expr | ast.keyword) -> str:
        """Return the source of a node."""
        start, end = self.span(node)
        return self.source[start:end]

    def operand(self, node: ast.expr) -> str:
        """Return the source of a node as an operand: `x.t()` as it is, `a + b` as `(a + b)`."""
        return self.source_of(node) if _is_operand(node) else f"({self.source_of(node)})"

    def operator_between(self, left: ast.expr, right: ast.expr) -> tuple[int, str] | None:
        """Return the position and the text of the operator between two operands.

        In the text `y = a + b` it is `(6, "+")`. The result is None if it is an operator that no fault replaces.
        """
        start, end = self.span(left)[1], self.span(right)[0]
        return next(((place, sign) for place, sign in self._signs if start <= place < end), None)

    def fault_at(self, start: int, end: int, new: str, clause: str) -> PlantedFault:
        """Return the fault that replaces a part of the text, such as `x.sum()` by `x.mean()`.

        Args:
            start: the position at which the part begins, in characters.
            end: the position at which it ends.
            new: the text that takes its place.
            clause: what is then wrong, such as "it returns a copy"; the student reads it when the game ends.
        """
        line = self.source.count("\n", 0, start) + 1
        return PlantedFault(clause, line, self.source[:start] + new + self.source[end:])


def _is_operand(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Subscript)


def _faults_at(node: ast.AST, text: _Text) -> Iterator[PlantedFault]:
    """Yield the faults that can be planted at one node of a student's code."""
    match node:
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant | ast.Tuple | ast.List):
            yield text.fault_at(*text.span(value), f"{text.operand(value)}.clone()", "it returns a copy")
        case ast.Call(func=ast.Name(id=name) as function) if (other := _OTHER_FUNCTION.get(name)) is not None:
            yield text.fault_at(*text.span(function), other, f"`{other}` stands where you had `{name}`")
        case ast.Call():
            yield from _call_faults(node, text)
        case ast.Attribute(value=ast.Name(id="torch"), attr=name) if name in _DTYPES:
            yield text.fault_at(*text.span(node), f"torch.{_DTYPES[name]}", "it uses another dtype")
        case ast.Attribute(value=value, attr="T" | "mT"):
            yield text.fault_at(*text.span(node), text.operand(value), "a transpose is missing")
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            yield text.fault_at(*text.span(node), text.operand(operand), "a mask is inverted")
        case ast.BinOp(left=left, op=ast.MatMult(), right=right) if _is_operand(left) and _is_operand(right):
            yield from _swap_faults(left, right, text, "the operands of a matrix product are swapped")
        case (
            ast.BinOp(left=left, right=right)
            | ast.AugAssign(target=left, value=right)
            | ast.Compare(left=left, comparators=[right])
        ):
            if (found := text.operator_between(left, right)) is not None:
                place, sign = found
                is_changed = f"`{_OTHER_SIGN[sign]}` stands where you had `{sign}`"
                what = "a comparison is reversed" if isinstance(node, ast.Compare) else is_changed
                yield text.fault_at(place, place + len(sign), _OTHER_SIGN[sign], what)
        case ast.Subscript(slice=ast.expr() as index) if (element := _OTHER_ELEMENT.get(_int_of(index))) is not None:
            yield text.fault_at(*text.span(index), element, "it takes another element")


def _call_faults(node: ast.Call, text: _Text) -> Iterator[PlantedFault]:
    """Yield the faults that can be planted in a call.

    They omit the call, or omit, swap or change its arguments, or use another dtype.
    """
    parts: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    parts.sort(key=text.span)
    for place, part in enumerate(parts):
        if isinstance(part, ast.keyword) and part.arg in _DROPPED_KEYWORDS:
            yield _fault_without_argument(parts, place, text)
        if isinstance(part, ast.keyword) and part.arg in ("dim", "axis"):
            yield from _faults_of_dim(part.value, text)
    if not isinstance(node.func, ast.Attribute):
        return
    owner, name = node.func.value, node.func.attr
    of_torch = isinstance(owner, ast.Name) and owner.id in ("torch", "np", "F")
    if name in _DROPPED_CALLS and not of_torch:
        yield text.fault_at(*text.span(node), text.operand(owner), f"`.{name}(...)` is missing")
    if name.endswith("_") and not name.startswith("_") and not of_torch:
        _, end = text.span(node.func)
        yield text.fault_at(end - 1, end, "", f"`{name[:-1]}` is not in place; you had `{name}`")
    args = node.args
    if of_torch and name in _DTYPE_OF_DATA and args and not any(part.arg == "dtype" for part in node.keywords):
        end = text.span(parts[-1])[1]
        yield text.fault_at(end, end, ", dtype=torch.float64", "it uses another dtype")
    if name in _DIM_FIRST and len(args) > of_torch:
        yield from _faults_of_dim(args[int(of_torch)], text)
    if name in _ORDERED and len(args) >= 2 and (not of_torch or name in _MAKERS):
        yield from _swap_faults(args[0], args[1], text, "two dims are swapped")
    if name == "where" and len(args) == 3:
        yield from _swap_faults(args[1], args[2], text, "a mask is inverted")
    if name in ("masked_fill", "masked_fill_", "masked_select") and len(args) > of_torch:
        mask = args[int(of_torch)]
        yield text.fault_at(*text.span(mask), f"~({text.source_of(mask)})", "a mask is inverted")


def _fault_without_argument(parts: list[ast.expr | ast.keyword], place: int, text: _Text) -> PlantedFault:
    """Return the fault that removes one argument of a call, with its comma.

    Args:
        parts: the arguments of the call, in the order of the source.
        place: the index in `parts` of the argument that is removed.
        text: the source.
    """
    start, end = text.span(parts[place])
    if place > 0:
        start = text.span(parts[place - 1])[1]
    elif len(parts) > 1:
        end = text.span(parts[1])[0]
    name = getattr(parts[place], "arg", "")
    return text.fault_at(start, end, "", f"`{name}=` is missing")


def _faults_of_dim(value: ast.expr, text: _Text) -> Iterator[PlantedFault]:
    if (other := _OTHER_DIM.get(_int_of(value))) is not None:
        yield text.fault_at(*text.span(value), other, "it works along another dim")


def _int_of(value: ast.expr) -> int | None:
    """Return the value of an int literal, with its sign; None for any other expression."""
    try:
        number = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError):
        return None
    return number if type(number) is int else None


def _swap_faults(one: ast.expr, other: ast.expr, text: _Text, what: str) -> Iterator[PlantedFault]:
    (start, middle), (again, end) = text.span(one), text.span(other)
    if not isinstance(one, ast.Starred) and not isinstance(other, ast.Starred):
        yield text.fault_at(
            start, end, f"{text.source_of(other)}{text.source[middle:again]}{text.source_of(one)}", what
        )


def _is_python(source: str) -> bool:
    try:
        compile(source, "fault", "exec")
    except (SyntaxError, ValueError):
        return False
    return True
