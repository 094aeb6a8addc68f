"""What is around a call of student code or handed to it, and does not cross with it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from grader.lint.scope import HEARD, PROBE, Finding, Kind, Scope, Source, arguments, scopes

_MODES = re.compile(
    r"torch\.(autograd\.(grad_mode\.)?)?(no_grad|enable_grad|inference_mode|set_grad_enabled)|torch\.device"
    r"|torch\.((cuda\.|cpu\.)?amp\.)?autocast|torch\.(random\.)?fork_rng|torch\.(backends|profiler|nn\.attention)\..+"
    r"|torch\.autograd\.((profiler|graph)\..+|(set_)?detect_anomaly)|numpy\.(errstate|printoptions)|contextlib\.chdir"
    r"|pytest\.MonkeyPatch\.context|(unittest\.)?mock\.patch(\..+)?"
)
_LISTENERS = re.compile(r"warnings\.catch_warnings|pytest\.(warns|deprecated_call)|contextlib\.redirect_std(out|err)")
_GRADIENTS = re.compile(r"torch\.autograd\.(grad|backward|gradcheck|gradgradcheck|functional\..+)")
_NO_FUNCTION = re.compile(
    r"[bcq]?u?(float|int|complex)\d*(_\w+)?|\w+_|intp|bool|half|double|single|long|short|byte|inf|nan|pi|e|tau|newaxis"
    r"|strided|sparse_\w+|jagged|\w+_format|channels_last\w*"
)
"""Names of a library that stand for values: dtypes, numbers, layouts."""
_IN_PLACE = re.compile(r"(copy|fill|zero|add|sub|mul|div|pow|clamp|normal|uniform)_")
_GRADIENT = "call `gradients(student.f, ...)`, which returns a gradient per argument; for an optimizer, `training_step`"
_OPERATION = "a proxy supports attributes, calls, items, len and iteration: write a probe that returns a value"
_HANDED = {
    Kind.LOCAL: ("a function or class of the check file", PROBE),
    Kind.MADE: (
        "an object of the check process",
        "`training_step` and `evaluation` make models, optimizers and loaders beside the student's code, `seeded` "
        "seeds it, and a probe does the rest",
    ),
    Kind.FOLDER: (
        "a path of the check process, which student code cannot see",
        "write a probe that makes the folder beside the student's code and returns what its files hold",
    ),
}


def around_calls(source: Source) -> Iterator[Finding]:
    """Every finding of this kind."""
    for scope in scopes(source):
        yield from _contexts(scope)
        for call in scope.calls:
            if scope.crosses(call):
                yield from _handed(scope, call)
            yield from _gradients(scope, call)
        for node in scope.nodes:
            yield from _writes(scope, node)
            yield from _operations(scope, node)


def _contexts(scope: Scope) -> Iterator[Finding]:
    """A mode or a listener around a call: in a block, or as a decorator."""
    blocks = [(node.items, node.body) for node in scope.nodes if isinstance(node, (ast.With, ast.AsyncWith))]
    around = [(item.context_expr, body) for items, body in blocks for item in items]
    around += [(one, scope.function.body) for one in scope.function.decorator_list]
    for context, body in around:
        path = scope.source.path(context)
        instead = PROBE if _MODES.fullmatch(path) else HEARD if _LISTENERS.fullmatch(path) else ""
        if instead and any(scope.calls_student(statement) for statement in body):
            yield Finding(context.lineno, f"`{path}` holds in the check process, not in the calls inside it", instead)


def _handed(scope: Scope, call: ast.Call) -> Iterator[Finding]:
    """An argument that is not a value."""
    for value in arguments(call):
        kind, path = scope.kind(value), scope.source.path(value)
        library, _, name = path.partition(".")
        if library in ("torch", "numpy", "math") and not isinstance(value, ast.Call):
            kind = kind if _NO_FUNCTION.fullmatch(name) else Kind.LOCAL
        if kind in _HANDED:
            what, instead = _HANDED[kind]
            named = what if library != "torch" or kind is not Kind.LOCAL else "a function or class of PyTorch"
            yield Finding(value.lineno, f"`{ast.unparse(value)}` is {named}, and only values cross", instead)


def _gradients(scope: Scope, call: ast.Call) -> Iterator[Finding]:
    """A gradient that would have to go back through student code."""
    used: list[ast.expr] = []
    if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
        used = [call.func.value] if scope.kind(call.func) is not Kind.MEMBER else []
    elif _GRADIENTS.fullmatch(scope.source.path(call)):
        used = arguments(call)
    if {scope.kind(value) for value in used} & {Kind.FUNCTION, Kind.OBJECT, Kind.RESULT, Kind.DERIVED}:
        what = "no gradient goes back through student code, whose results arrive as plain values"
        yield Finding(call.lineno, what, _GRADIENT)


def _writes(scope: Scope, node: ast.AST) -> Iterator[Finding]:
    """A write into a tensor of an object's, or its gradient: what the check has is a copy without one."""
    copied: ast.expr | None = None
    match node:
        case ast.Attribute(attr="grad", value=tensor) if _is_inside(scope, tensor) or scope.lacks_gradient(node):
            yield Finding(node.lineno, f"`{ast.unparse(node)}` does not cross: student code has its own", _GRADIENT)
        case ast.Call(func=ast.Attribute(value=tensor, attr=name)) if _IN_PLACE.fullmatch(name):
            copied = tensor
        case ast.Call(args=[tensor, *_]) if scope.source.path(node).startswith("torch.nn.init."):
            copied = tensor
        case ast.Attribute(value=tensor, attr="data", ctx=ast.Store()) | ast.Subscript(value=tensor, ctx=ast.Store()):
            copied = tensor
    if copied is not None and _is_inside(scope, copied):
        instead = "call `load_state_dict` with the values, or write a probe that changes the object"
        yield Finding(copied.lineno, f"`{ast.unparse(copied)}` is a copy here, and the object keeps its own", instead)


def _is_inside(scope: Scope, node: ast.AST) -> bool:
    """Whether an expression is an attribute or an item of an object of the student's, or of what it holds."""
    depth = 0
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node, depth = node.value, depth + 1
    return depth > 0 and scope.kind(node) is Kind.OBJECT


def _operations(scope: Scope, node: ast.AST) -> Iterator[Finding]:
    """What a proxy does not support."""
    used: list[ast.expr] = []
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[value, kind]):
            used = [value]
            if scope.kind(kind) is Kind.FUNCTION:
                yield Finding(node.lineno, f"`{ast.unparse(kind)}` is a proxy, not a class", _OPERATION)
        case ast.Compare(left=left, ops=ops, comparators=others):
            used = [left, *others] if not all(isinstance(op, (ast.Is, ast.IsNot)) for op in ops) else []
        case ast.BinOp(left=left, right=right):
            used = [left, right]
        case ast.withitem(context_expr=value) | ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
            used = [value]
        case ast.ExceptHandler(type=ast.expr() as error) | ast.Call(args=[error, *_]):
            raises = isinstance(node, ast.ExceptHandler) or scope.source.path(node) == "pytest.raises"
            if raises and scope.kind(error) is Kind.FUNCTION:
                instead = "name its builtin base, such as ValueError, or write a probe that catches it"
                yield Finding(error.lineno, f"no error arrives as `{ast.unparse(error)}`", instead)
    for value in used:
        if scope.kind(value) is Kind.OBJECT:
            yield Finding(value.lineno, f"`{ast.unparse(value)}` is a proxy and supports no such operation", _OPERATION)
