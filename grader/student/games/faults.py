"""Tensor faults that can be planted in a text, one at a time; the rest of the text stays as it is.

A view becomes a copy, dims are swapped, `dtype=`, `device=` or `keepdim=` is dropped, a mask is inverted. They are
looked for in the text, by patterns. The checks decide whether a fault matters, and whether it makes sense for the value
at hand.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_KEYWORDS = "dtype|device|keepdims?|correction|memory_format|copy|dim|requires_grad"
_CALLS = (
    "clone|contiguous|detach|double|float|long|int|bool|to|type|t|flip|unsqueeze|squeeze|transpose|permute|abs|sqrt"
)
_ORDERED = "empty|zeros|ones|randn?|permute|reshape|view|expand|movedim|new_empty|new_zeros|new_ones"
_ALONG = "sum|mean|amax|amin|argmax|argmin|max|min|cumsum|softmax|unsqueeze|squeeze|flatten|all|any|prod|norm|unbind"
_VALUE = r"(?:[^,()\n]|\([^()\n]*\))+"
_SIGNS = {"+": "-", "-": "+", "*": "+", "/": "*", "//": "*"}
_REVERSED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}

_FAULTS = [
    (r"\breturn (.*[\w)\]])$", r"return \1.clone()", "it returns a copy"),
    (rf",\s*({_KEYWORDS})={_VALUE}", "", r"`\1=` is missing"),
    (rf"(?<!torch)(?<!np)(?<!\bF)\.({_CALLS})\({_VALUE}?\)", "", r"`.\1(...)` is missing"),
    (r"\.(\w*[a-z])_\(", r".\1(", r"`\1` is not in place; you had `\1_`"),
    (r"torch\.(float32|double)\b", "torch.float64", "it uses another dtype"),
    (r"torch\.float64\b", "torch.float32", "it uses another dtype"),
    (r"torch\.(int64|long)\b", "torch.int32", "it uses another dtype"),
    (r"torch\.bool\b", "torch.uint8", "it uses another dtype"),
    (
        rf"\b(tensor|arange|full)\((?![^\n]*dtype)({_VALUE}(?:,{_VALUE})*)\)",
        r"\1(\2, dtype=torch.float64)",
        "it uses another dtype",
    ),
    (r"\b(dim|axis)=0", r"\1=-1", "it works along another dim"),
    (r"\b(dim|axis)=-?[12]", r"\1=0", "it works along another dim"),
    (rf"\.({_ALONG})\(0\b", r".\1(-1", "it works along another dim"),
    (rf"\.({_ALONG})\(-?[12]\b", r".\1(0", "it works along another dim"),
    (rf"\b({_ORDERED})\(({_VALUE}), ({_VALUE})", r"\1(\3, \2", "two dims are swapped"),
    (
        rf"([\w.]+(?:\({_VALUE}(?:,{_VALUE})*\))?) @ ([\w.]+)",
        r"\2 @ \1",
        "the operands of a matrix product are swapped",
    ),
    (r"\.m?T\b", "", "a transpose is missing"),
    (r"~", "", "a mask is inverted"),
    (rf"\b(masked_fill_?|masked_select)\(({_VALUE})", r"\1(~(\2)", "a mask is inverted"),
    (rf"\bwhere\(({_VALUE}), ({_VALUE}), ({_VALUE})\)", r"where(\1, \3, \2)", "a mask is inverted"),
    *((rf" {re.escape(sign)} ", f" {other} ", "a comparison is reversed") for sign, other in _REVERSED.items()),
    *(
        (rf" {re.escape(sign)}(=?) ", rf" {other}\1 ", rf"`{other}\1` stands where you had `{sign}\1`")
        for sign, other in _SIGNS.items()
    ),
]
"""What is looked for, what stands there instead, and what is wrong then, in a clause."""


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


def faults_of(source: str) -> list[Fault]:
    """All faults that can be planted in the functions of a text, each of them once."""
    tree = ast.parse(source)
    lines, faults = set(_code_lines(tree)), dict[str, Fault]()
    for pattern, new, what in _FAULTS:
        for match in re.finditer(pattern, source, re.MULTILINE):
            line = source.count("\n", 0, match.start()) + 1
            changed = source[: match.start()] + match.expand(new) + source[match.end() :]
            if line in lines and _is_another_program(changed, tree):
                faults.setdefault(changed, Fault(match.expand(what), line, changed))
    return list(faults.values())


def _code_lines(tree: ast.Module) -> Iterator[int]:
    """The numbers of the lines of all functions, without their docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for statement in node.body[ast.get_docstring(node) is not None :]:
                yield from range(statement.lineno, (statement.end_lineno or 0) + 1)


def _is_another_program(source: str, tree: ast.Module) -> bool:
    """Whether a text is Python, and differs from a tree in more than comments and blanks."""
    try:
        return ast.dump(ast.parse(source)) != ast.dump(tree)
    except (SyntaxError, ValueError):
        return False
