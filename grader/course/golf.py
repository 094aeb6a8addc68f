"""Golf: in how few operations an answer is written. It gives no points; `par` in exercise.yaml is the least known."""

from __future__ import annotations

import ast

from grader.model import Exercise
from grader.model.score import counted

_OPERATIONS = (
    *(ast.Call, ast.Subscript, ast.BinOp, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.AugAssign),
    *(ast.IfExp, ast.If, ast.For, ast.While, ast.comprehension),
)


def operations(source: bytes) -> int:
    """How many operations the functions of a file have: each call, operator, index, condition and loop is one.

    What is raised counts for nothing, nor do decorators, annotations and docstrings.

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


def golf_line(exercise: Exercise) -> str:
    """What a student reads who has solved an exercise that has a par, of the file in the course; "" of any other."""
    if exercise.par is None:
        return ""
    try:
        count = operations(exercise.starter.read_bytes())
    except (OSError, SyntaxError, ValueError):  # it has changed since it was graded
        return ""
    over = count - exercise.par
    how = f"{over} over par" if over > 0 else f"{-over} under par" if over else "par"
    return f"Golf: your functions have {counted(count, 'operation')} (calls, operators, indexes): {how}."
