"""Golf: in how few operations an answer is written. It gives no points; `par` in exercise.yaml is the least known."""

from __future__ import annotations

import ast

_OPERATIONS = (
    *(ast.Call, ast.Subscript, ast.BinOp, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.AugAssign),
    *(ast.IfExp, ast.If, ast.For, ast.While, ast.comprehension),
)
"""What counts."""


def count_operations(source: bytes) -> int:
    """Return the number of operations in the functions of a file, for golf.

    Operations are calls, operators, indices, conditions and loops. `if x > 0: return g(x)[0]` has 4: the `if`, the `>`,
    the call and the index. `raise` statements do not count, nor do decorators, annotations and docstrings.

    Raises:
        SyntaxError, ValueError: it is not valid Python.
    """
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    todo: list[ast.AST] = []
    for function in functions:
        todo += function.body if isinstance(function, ast.FunctionDef) else [function.body]
    count = 0
    while todo:
        node = todo.pop()
        # Functions within functions are in the list themselves.
        if not isinstance(node, ast.Raise | ast.FunctionDef | ast.Lambda):
            negative = isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
            count += isinstance(node, _OPERATIONS) and not negative
            annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
            todo += [child for child in ast.iter_child_nodes(node) if child is not annotation]
    return count
