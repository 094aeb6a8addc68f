"""The sizes that stand in a check file: an answer may be right for these alone, so hidden checks draw others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_LEAST = 2
"""A size of 0 or 1 is a case of its own."""


def sizes_in(text: str) -> frozenset[int]:
    """Return the numbers in a check file that may be sizes of a tensor.

    Hidden checks then draw other sizes. `student.f(rng.normal(4, 7), [1, 2, 3])` has 4, 7, and 3 as the length of the
    list. 0 and 1 are left out, and so are decorators.

    Args:
        text: the text of a check file; one that is not valid Python has no sizes.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    declared = {
        id(each) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for each in node.decorator_list
    }
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and id(node) not in declared)
    return frozenset(size for call in calls for part in call.args for size in _sizes(part) if size >= _LEAST)


def _sizes(part: ast.expr) -> Iterator[int]:
    match part:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            yield value
        case ast.Tuple(elts=parts):
            for each in parts:
                yield from _sizes(each)
        case ast.List(elts=parts):  # numbers in it are values, and their count is a size
            yield len(parts)
            for each in parts:
                if isinstance(each, ast.List):
                    yield from _sizes(each)
