"""Lines of a check file that do not do what they say.

Checks that never run, or not as their author means; what changes or hears the check process alone; and what is around a
call of student code or handed to it, and does not cross with it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.lint.scope import (
    CHECK,
    FIXTURE,
    CheckSource,
    ExprKind,
    Function,
    Scope,
    arguments,
    parameters,
    scopes,
)

PROBE = "write a probe: a function of the probe file that does this beside the student's code"
HEARD = "call `capture(student.f, ...)`, which returns what the call printed and what it warned of"


@dataclass(frozen=True, order=True)
class Finding:
    """A line of a check file that has no effect on student code, or is never graded.

    Attributes:
        line: its number.
        what: a clause that says what has no effect, or is not graded.
        instead: a text on what to write.
    """

    line: int
    what: str
    instead: str

    def __str__(self) -> str:
        return f"{self.what}; {self.instead}"


def findings(text: str, solution: str = "") -> list[Finding]:
    """Return the findings in a check file, by line; an empty list if it is not valid Python.

    Args:
        text: the text of the check file.
        solution: the text of the reference, if there is one; it shows which of the student's names are classes.
    """
    try:
        source = CheckSource(ast.parse(text), solution)
    except (SyntaxError, ValueError, RecursionError):
        return []
    return sorted({*_ungraded_functions(source), *_process_wide_changes(source), *_code_without_effect(source)})


_XFAIL = re.compile(r"pytest\.(mark\.)?xfail|unittest\.expectedFailure")
_SKIP = re.compile(r"pytest\.(mark\.skip(if)?|skip|importorskip)|unittest\.skip\w*")


def _ungraded_functions(source: CheckSource) -> Iterator[Finding]:
    """Yield a finding for each function that looks like a check and is never run.

    Each `xfail` and each `skip` is a finding, too.
    """
    outer = [node for node in source.nodes if isinstance(node, (ast.ClassDef, Function))]
    inside = {node: parent.name for parent in outer for node in ast.walk(parent) if node is not parent}
    first: dict[str, int] = {}
    for function in source.functions:
        name, line, is_check = function.name, function.lineno, source.decorator(function, CHECK) is not None
        if function not in inside:
            yield from _name_mismatch(name, line, is_check=is_check)
            if is_check and (before := first.setdefault(name, line)) != line:
                yield Finding(line, f"this `{name}` replaces the one on line {before}", "give each check its own name")
        elif is_check:
            yield Finding(line, f"`{name}` is inside `{inside[function]}` and is never run", "move it out of there")
    for node in (node for node in source.nodes if isinstance(node, (ast.Name, ast.Attribute))):
        path = source.import_path(node)
        if _XFAIL.fullmatch(path):
            yield Finding(node.lineno, f"`{path}` has no effect: a check that fails costs its points", "remove it")
        elif _SKIP.fullmatch(path):
            instead = 'for a GPU, write `@check(device="cuda")`; where a value rules out judging, raise `CannotJudge`'
            yield Finding(node.lineno, f"`{path}` leaves the check's points undecided in every report", instead)


def _name_mismatch(name: str, line: int, *, is_check: bool) -> Iterator[Finding]:
    """Yield a finding if a function has only the name or only the decorator of a check.

    It needs both: pytest collects functions whose names begin with check_, and the decorator has the rule.

    Args:
        name: the name of the function; one that begins with `test_` always yields a finding.
        line: the line of the function.
        is_check: True if the function has the decorator `@check`.
    """
    if name.startswith("test_"):
        yield Finding(line, f"`{name}` is never run", f'make it a check: `@check("C1")` and `def check_{name[5:]}`')
    elif is_check and not name.startswith("check_"):
        yield Finding(line, f"`{name}` is never run: the name of a check begins with check_", f"name it `check_{name}`")
    elif name.startswith("check_") and not is_check:
        what = f"`{name}` has no `@check`, so it is graded as a check of no rule with one share"
        yield Finding(line, what, f'write `@check("C1")` above it; if it is a helper, name it `{name[5:]}`')


# -- the check process -------------------------------------------------------------------------------------------------

_SEEDS = re.compile(
    r"torch\.((random|cuda)\.)?(manual_seed(_all)?|seed|set_rng_state)|(numpy\.)?random\.(seed|set_?state)"
)
_SETTINGS = re.compile(
    r"torch\.(set_\w+|use_deterministic_algorithms|(autograd|cuda)\.set_\w+)|numpy\.set(err\w*|_\w+)"
    r"|os\.(chdir|putenv|unsetenv|environ\.(update|setdefault|pop|clear))|sys\.(path\.(insert|append|extend)|set\w+)"
)
_SEEDED = "draw inputs from `rng`; for student code that draws, call `call_seeded(0, student.f, ...)`"
_FIXTURES = {
    **dict.fromkeys(("capsys", "capfd", "capsysbinary", "capfdbinary", "caplog", "recwarn"), HEARD),
    **dict.fromkeys(("monkeypatch", "mocker"), PROBE),
}


def _process_wide_changes(source: CheckSource) -> Iterator[Finding]:
    """Yield a finding for each line that sets state of the check process, such as a seed.

    No worker sees that state.
    """
    # A mode that ends with its block counts only where student code is called in it: see below.
    ends = {node.context_expr for node in source.nodes if isinstance(node, ast.withitem)}
    for node in source.nodes:
        match node:
            # What belongs to an imported module: `torch.matmul = spy`, `os.environ["A"] = "1"`.
            case (
                (ast.Attribute(ctx=ast.Store() | ast.Del()) as changed)
                | ast.Subscript(value=ast.Attribute() as changed, ctx=ast.Store() | ast.Del())
                | ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[changed, *_])
            ) if path := source.import_path(changed):
                instead = HEARD if path in ("sys.stdout", "sys.stderr") else PROBE
                yield Finding(node.lineno, f"this changes `{path}` in the check process, not for student code", instead)
            case ast.Call() if node not in ends:
                path = source.import_path(node)
                if _SEEDS.fullmatch(path):
                    yield Finding(node.lineno, f"`{path}` seeds the check process, not student code", _SEEDED)
                elif _SETTINGS.fullmatch(path):
                    yield Finding(node.lineno, f"`{path}` changes the check process, not student code", PROBE)
            case ast.FunctionDef() if source.decorator(node, CHECK, FIXTURE):
                for name in _FIXTURES.keys() & {*parameters(node)}:
                    what = f"`{name}` reaches the check process, not student code"
                    yield Finding(node.lineno, what, _FIXTURES[name])


# -- calls of student code ---------------------------------------------------------------------------------------------

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
_OF_PYTHON = ("repr", "str", "format", "hash", "bool", "int", "float", "abs", "round")
"""Functions of Python's that see the proxy itself, and nothing of the object in the worker."""
_UNSENDABLE: dict[ExprKind | None, tuple[str, str]] = {
    ExprKind.LOCAL: ("a function or class of the check file", PROBE),
    ExprKind.TEXTS: ("an array of text", f"send a list of str, or {PROBE}"),
    ExprKind.MADE: (
        "an object of the check process",
        "`training_step` and `evaluation` make models, optimizers and loaders beside the student's code, `call_seeded` "
        "seeds it, and a probe does the rest",
    ),
    ExprKind.FOLDER: (
        "a path of the check process, which student code cannot see",
        "write a probe that makes the folder beside the student's code and returns what its files hold",
    ),
}


def _code_without_effect(source: CheckSource) -> Iterator[Finding]:
    """Yield a finding for each line that does not affect student code as it seems to.

    Such a line is a `with torch.no_grad()` around a call.
    """
    for scope in scopes(source):
        yield from _contexts_without_effect(scope)
        for node in scope.nodes:
            if isinstance(node, ast.Call):
                yield from _unsendable_arguments(scope, node) if scope.runs_in_worker(node) else ()
                yield from _lost_gradients(scope, node)
            if isinstance(node, ast.Attribute) and (name := graph_attribute(scope, node)):
                text = ast.unparse(node)
                what = f"`{text}` says nothing of student code: a result arrives without its graph"
                yield Finding(node.lineno, what, f"write `facts({text.removesuffix(f'.{name}')}).{name}`")
            yield from _writes_to_copies(scope, node)
            yield from _unsupported_operations(scope, node)


def graph_attribute(scope: Scope, node: ast.AST) -> str:
    """Return the autograd attribute that a node reads from a result of student code; else "".

    After `y = student.f(x)`, it is "requires_grad" for `y.requires_grad`, which says nothing of student code.
    """
    match node:
        case ast.Attribute(value=value, attr="requires_grad" | "is_leaf" | "grad_fn" as name, ctx=ast.Load()):
            return name if scope.kind(value) is ExprKind.RESULT else ""
    return ""


def _contexts_without_effect(scope: Scope) -> Iterator[Finding]:
    """Yield a finding for each `with` or decorator that does not affect student code, such as `torch.no_grad`."""
    blocks = [node for node in scope.nodes if isinstance(node, (ast.With, ast.AsyncWith))]
    around = [(item.context_expr, block.body) for block in blocks for item in block.items]
    around += [(one, scope.function.body) for one in scope.function.decorator_list]
    for context, body in around:
        path = scope.source.import_path(context)
        instead = PROBE if _MODES.fullmatch(path) else HEARD if _LISTENERS.fullmatch(path) else ""
        if instead and any(map(scope.calls_student, body)):
            yield Finding(context.lineno, f"`{path}` holds in the check process, not in the calls inside it", instead)


def _unsendable_arguments(scope: Scope, call: ast.Call) -> Iterator[Finding]:
    """Yield a finding for each argument that cannot be sent to student code, such as a function or a model."""
    for value in arguments(call):
        kind, (library, _, name) = scope.kind(value), scope.source.import_path(value).partition(".")
        what, instead = _UNSENDABLE.get(kind, ("", ""))
        if library in ("torch", "numpy", "math") and not isinstance(value, ast.Call):
            what, instead = "" if _NO_FUNCTION.fullmatch(name) else f"a function or class of {library}", PROBE
        if what:
            yield Finding(
                value.lineno, f"`{ast.unparse(value)}` is {what}; only values can be sent to student code", instead
            )


def _lost_gradients(scope: Scope, call: ast.Call) -> Iterator[Finding]:
    """Yield a finding if a call, such as `backward`, needs a gradient that goes back through student code."""
    used: list[ast.expr] = []
    if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
        used = [call.func.value] if scope.kind(call.func) is not ExprKind.MEMBER else []
    elif _GRADIENTS.fullmatch(scope.source.import_path(call)):
        used = arguments(call)
    if {ExprKind.FUNCTION, ExprKind.OBJECT, ExprKind.RESULT, ExprKind.DERIVED}.intersection(map(scope.kind, used)):
        what = "no gradient goes back through student code, whose results arrive as plain values"
        yield Finding(call.lineno, what, _GRADIENT)


def _writes_to_copies(scope: Scope, node: ast.AST) -> Iterator[Finding]:
    """Yield a finding if a check writes to a tensor of a student's object: it is only a copy.

    `model.weight.zero_()` is one such line, and `model.weight.grad` is another. So is `x.grad` of a tensor x that
    student code gets as a copy, if `uses_grad_in_vain` is True.
    """
    copied: ast.expr | None = None
    match node:
        case ast.Attribute(attr="grad", value=tensor) if _is_in_object(scope, tensor) or scope.uses_grad_in_vain(node):
            yield Finding(node.lineno, f"`{ast.unparse(node)}` here is not the gradient of student code", _GRADIENT)
        case ast.Call(func=ast.Attribute(value=tensor, attr=name)) if _IN_PLACE.fullmatch(name):
            copied = tensor
        case ast.Call(args=[tensor, *_]) if scope.source.import_path(node).startswith("torch.nn.init."):
            copied = tensor
        case ast.Attribute(value=tensor, attr="data", ctx=ast.Store()) | ast.Subscript(value=tensor, ctx=ast.Store()):
            copied = tensor
    if copied is not None and _is_in_object(scope, copied):
        instead = "call `load_state_dict` with the values, or write a probe that changes the object"
        yield Finding(copied.lineno, f"`{ast.unparse(copied)}` is a copy here, and the object keeps its own", instead)


def _is_in_object(scope: Scope, node: ast.AST) -> bool:
    """Return whether an expression is an attribute or an item of a student's object.

    After `model = student.Model()`, `model.weight` and `model.layers[0].weight` are, and `model` is not.
    """
    depth = 0
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node, depth = node.value, depth + 1
    return depth > 0 and scope.kind(node) is ExprKind.OBJECT


def _unsupported_operations(scope: Scope, node: ast.AST) -> Iterator[Finding]:
    """Yield a finding for each operation that a proxy does not support, such as `==`, `+`, `with` and `isinstance`."""
    used: list[ast.expr] = []
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[value, kind]):
            used = [value]
            if scope.kind(kind) is ExprKind.FUNCTION:
                yield Finding(node.lineno, f"`{ast.unparse(kind)}` is a proxy, not a class", _OPERATION)
        case ast.Call(func=ast.Name(id=name), args=[value, *_]) if name in _OF_PYTHON:
            used = [value]
        case ast.Compare(left=left, ops=ops, comparators=others):
            used = [left, *others] if not all(isinstance(op, (ast.Is, ast.IsNot)) for op in ops) else []
        case ast.BinOp(left=left, right=right):
            used = [left, right]
        case ast.withitem(context_expr=value) | ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
            used = [value]
        case ast.ExceptHandler(type=ast.expr() as error) | ast.Call(args=[error, *_]):
            raises = isinstance(node, ast.ExceptHandler) or scope.source.import_path(node) == "pytest.raises"
            if raises and scope.kind(error) is ExprKind.FUNCTION:
                instead = "name its builtin base, such as ValueError, or write a probe that catches it"
                yield Finding(error.lineno, f"no error of student code arrives as `{ast.unparse(error)}`", instead)
    for value in used:
        if scope.kind(value) is ExprKind.OBJECT:
            yield Finding(value.lineno, f"`{ast.unparse(value)}` is a proxy and supports no such operation", _OPERATION)
