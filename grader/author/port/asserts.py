"""Asserts of PyTorch and NumPy as helpers of `grader.check`, in a check file."""

from __future__ import annotations

import ast
import re

from grader.author.port.text import Edits
from grader.lint.scope import Kind, Scope, scopes
from grader.lint.source import Source

WORDS = ("check", "is_instance", "is_tensor", "same_dtype", "same_shape", "same_values")
"""What the new text may use of `grader.check`."""

_CLOSE = re.compile(r"torch\.testing\.assert_close|numpy\.testing\.assert_allclose|(torch|numpy)\.allclose")
_EQUAL = re.compile(r"torch\.equal|numpy\.(array_equal|testing\.assert_(array_)?equal)")
_IGNORED = {"check_device", "check_dtype", "check_layout", "equal_nan", "err_msg", "msg", "strict", "verbose"}
_CONVERSIONS = {"cpu", "detach", "numpy"}


def with_helpers(text: str) -> str:
    """The text with asserts as helpers, where both say the same."""
    source, edits = Source(ast.parse(text)), Edits(text)
    for scope in scopes(source):
        for node in scope.nodes:
            new = ""
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                new = _values(scope, edits, node.value)
            elif isinstance(node, ast.Assert):
                new = _assert(scope, edits, node.test)
            if new and isinstance(node, ast.stmt):
                edits.replace(node, new)
    return edits.result()


def without_no_grad(text: str) -> str:
    """The text without `no_grad` around calls of student code, whose results carry no graph in any case."""
    source, edits = Source(ast.parse(text)), Edits(text)
    for scope in scopes(source):
        for node in (node for node in scope.nodes if isinstance(node, ast.With) and len(node.items) == 1):
            path = source.path(node.items[0].context_expr)
            if path in ("torch.no_grad", "torch.inference_mode") and scope.calls_student(node):
                first = node.body[0].lineno
                edits.drop_lines(node.lineno, first - 1)
                edits.comment(node.lineno, f"TODO: this was under {path}; if student code needs that, write a probe")
                edits.shift(node.body, -4)
    return edits.result()


def _assert(scope: Scope, edits: Edits, test: ast.expr) -> str:
    match test:
        case ast.Call(func=ast.Name(id="isinstance"), args=[value, kind]):
            # Of an object that stays in the worker, `isinstance` knows nothing.
            path = scope.source.path(kind) if _is_students(scope, value) or scope.kind(value) is Kind.OBJECT else ""
            if path == "torch.Tensor":
                return f"is_tensor({edits.text(value)})"
            return f"is_instance({edits.text(value)}, {edits.text(kind)})" if path.startswith("torch.") else ""
        case ast.Call():
            return _values(scope, edits, test)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            for got, expected in ((left, right), (right, left)):
                for attribute in ("shape", "dtype"):
                    owner = _owner(got, attribute)
                    if owner is not None and _is_students(scope, owner):
                        return f"same_{attribute}({edits.text(owner)}, {edits.text(expected)})"
    return ""


def _owner(node: ast.expr, attribute: str) -> ast.expr | None:
    """What an expression is the shape or the dtype of."""
    match node:
        case ast.Attribute(value=value, attr=name) if name == attribute:
            return value
        case ast.Call(func=ast.Name(id="tuple" | "list"), args=[inner]):
            return _owner(inner, attribute)
        case ast.Call(func=ast.Attribute(value=value, attr="size"), args=[], keywords=[]) if attribute == "shape":
            return value
    return None


def _values(scope: Scope, edits: Edits, call: ast.Call) -> str:
    """A comparison of values as `same_values`; "" if it is none, or says more."""
    path, words = scope.source.path(call), {word.arg or "**": edits.text(word.value) for word in call.keywords}
    exact = _EQUAL.fullmatch(path) is not None
    if not (exact or _CLOSE.fullmatch(path)) or not 2 <= len(call.args) <= 4:
        return ""
    words |= dict(zip(("rtol", "atol"), map(edits.text, call.args[2:]), strict=False))
    words = {name: value for name, value in words.items() if name not in _IGNORED}
    if not words.keys() <= {"rtol", "atol"}:
        return ""
    got, expected = call.args[:2]
    if _is_students(scope, expected) and not _is_students(scope, got):
        got, expected = expected, got
    tolerances = {"rtol": "0", "atol": "0"} if exact else words
    return (
        f"same_values({', '.join([_plain(edits, got), _plain(edits, expected), *map('='.join, tolerances.items())])})"
    )


def _plain(edits: Edits, node: ast.expr) -> str:
    """An expression without conversions: `same_values` compares tensors with arrays."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[], keywords=[]) if name in _CONVERSIONS:
            return _plain(edits, value)
    return edits.text(node)


def _is_students(scope: Scope, node: ast.expr) -> bool:
    """Whether a value certainly comes from student code."""
    return scope.kind(node) in (Kind.RESULT, Kind.DERIVED, Kind.MEMBER)
