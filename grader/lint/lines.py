"""Lines of a check file that do not do what they say, found in its syntax tree.

Checks that never run, or not as their author means; what changes or hears the check process alone; and what is around a
call of student code, and does not cross with it. What does not work at all is not looked for: it raises an error.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef

CHECK, FIXTURE = "grader.check.check", "pytest.fixture"
"""The decorators of what pytest calls, and gives fixtures by the names of its parameters."""


class Source:
    """A check file.

    Attributes:
        nodes: all nodes of its syntax tree.
        functions: all functions, also those inside others.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.nodes = list(ast.walk(tree))
        self.functions = [node for node in self.nodes if isinstance(node, Function)]
        self._imports: dict[str, str] = {}
        for name, (module, inner) in (row for node in self.nodes for row in imported(node).items()):
            if not module.startswith("."):
                self._imports[name] = f"{module}.{inner}" if inner else module

    def path(self, node: ast.AST | None) -> str:
        """What an expression or the function that it calls is imported as, such as "torch.no_grad"; "" otherwise."""
        match node:
            case ast.Call(func=function):
                return self.path(function)
            case ast.Name(id=name):
                return self._imports.get(name, "")
            case ast.Attribute(value=ast.Name() | ast.Attribute() as value, attr=name) if base := self.path(value):
                return f"{base}.{name}"
        return ""

    def decorator(self, function: Function, *paths: str) -> ast.expr | None:
        """The decorator of a function that is imported as one of these."""
        return next((one for one in function.decorator_list if self.path(one) in paths), None)


def imported(node: ast.AST) -> dict[str, tuple[str, str]]:
    """What each name of an import statement is imported as: a module, and a name of it or ""."""
    if isinstance(node, ast.Import):  # of `import a.b` the name is `a`
        names = [(one.asname or one.name.split(".")[0], one) for one in node.names]
        return {name: (one.name if one.asname else name, "") for name, one in names}
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        return {one.asname or one.name: (module, one.name) for one in node.names}
    return {}


def parameters(function: Function) -> list[str]:
    """The names of a function's parameters."""
    args = function.args
    return [one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


PROBE = "write a probe: a function of the probe file that does this beside the student's code"
HEARD = "call `heard(student.f, ...)`, which returns what the call printed and what it warned of"


@dataclass(frozen=True, order=True)
class Finding:
    """A line of a check file that does not do what it says.

    Attributes:
        line: its number.
        what: what has no effect, or is not graded.
        instead: what to write.
    """

    line: int
    what: str
    instead: str

    def __str__(self) -> str:
        return f"{self.what}; {self.instead}"


def findings(text: str) -> list[Finding]:
    """Every finding of a check file, by line; none for a file that is not valid Python, which collecting reports."""
    try:
        source = Source(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return []
    return sorted({*_not_graded(source), *_process_wide(source), *_around_calls(source)})


# -- checks that never run ---------------------------------------------------------------------------------------------

_XFAIL = re.compile(r"pytest\.(mark\.)?xfail|unittest\.expectedFailure")


def _not_graded(source: Source) -> Iterator[Finding]:
    """Every finding of this kind."""
    outer = [node for node in source.nodes if isinstance(node, (ast.ClassDef, Function))]
    inside = {node: parent.name for parent in outer for node in ast.walk(parent) if node is not parent}
    first: dict[str, int] = {}
    for function in source.functions:
        name, line, is_check = function.name, function.lineno, source.decorator(function, CHECK) is not None
        if function not in inside:
            yield from _name(name, line, is_check=is_check)
            if is_check and (before := first.setdefault(name, line)) != line:
                yield Finding(line, f"this `{name}` replaces the one on line {before}", "give each check its own name")
        elif is_check:
            yield Finding(line, f"`{name}` is inside `{inside[function]}` and is never run", "move it out of there")
    for node in (node for node in source.nodes if isinstance(node, (ast.Name, ast.Attribute))):
        path = source.path(node)
        if _XFAIL.fullmatch(path):
            yield Finding(node.lineno, f"`{path}` has no effect: a check that fails costs its points", "remove it")


def _name(name: str, line: int, *, is_check: bool) -> Iterator[Finding]:
    """A function whose name and decorator do not agree: pytest collects by the name, the decorator says the rule."""
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
_SEEDED = "draw inputs from `rng`; for student code that draws, call `seeded(0, student.f, ...)`"
_FIXTURES = {
    **dict.fromkeys(("capsys", "capfd", "capsysbinary", "capfdbinary", "caplog", "recwarn"), HEARD),
    **dict.fromkeys(("monkeypatch", "mocker"), PROBE),
}


def _process_wide(source: Source) -> Iterator[Finding]:
    """Every finding of this kind."""
    # A mode that ends with its block counts only where student code is called in it: see below.
    ends = {node.context_expr for node in source.nodes if isinstance(node, ast.withitem)}
    for node in source.nodes:
        match node:
            # What belongs to an imported module: `torch.matmul = spy`, `os.environ["A"] = "1"`.
            case (
                (ast.Attribute(ctx=ast.Store() | ast.Del()) as changed)
                | ast.Subscript(value=ast.Attribute() as changed, ctx=ast.Store() | ast.Del())
                | ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[changed, *_])
            ) if path := source.path(changed):
                instead = HEARD if path in ("sys.stdout", "sys.stderr") else PROBE
                yield Finding(node.lineno, f"this changes `{path}` in the check process, not for student code", instead)
            case ast.Call() if node not in ends:
                path = source.path(node)
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


_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*")
_MODULES = ("student", "reference", "probe")


class _Scope:
    """One function of a check file, and which of its expressions are student code.

    An expression is a module, a function or class of one, the object that a class makes, or the result of a function.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.nodes = list(ast.walk(function))
        self._kinds = {name: "module" for name in parameters(function) if name in _MODULES}
        for node in self.nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._kinds[name] = self._kind(value)

    def _kind(self, node: ast.AST) -> str:
        """Which of these an expression is; "" for any other."""
        match node:
            case ast.Name(id=name):
                return self._kinds.get(name, "")
            case ast.Attribute(value=owner, attr=name) if (kind := self._kind(owner)) in ("module", "object"):
                return "class" if kind == "module" and _CLASS.match(name) else "function"
            case ast.Call(func=function):
                return {"class": "object", "function": "result"}.get(self._kind(function), "")
        return ""

    def calls_student(self, node: ast.AST) -> bool:
        """Whether student code is called somewhere in a node: directly, or by what is handed student code."""
        for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)):
            given = [*call.args, *(word.value for word in call.keywords)]
            # A result that is called is an object of the student's.
            if self._kind(call.func) or any(self._kind(one) in ("module", "class", "function") for one in given):
                return True
        return False


def _around_calls(source: Source) -> Iterator[Finding]:
    """Every mode or listener around a call: in a block, or as a decorator."""
    for scope in map(_Scope, source.functions):
        blocks = [node for node in scope.nodes if isinstance(node, (ast.With, ast.AsyncWith))]
        around = [(item.context_expr, block.body) for block in blocks for item in block.items]
        around += [(one, scope.function.body) for one in scope.function.decorator_list]
        for context, body in around:
            path = source.path(context)
            instead = PROBE if _MODES.fullmatch(path) else HEARD if _LISTENERS.fullmatch(path) else ""
            if instead and any(map(scope.calls_student, body)):
                yield Finding(
                    context.lineno, f"`{path}` holds in the check process, not in the calls inside it", instead
                )
