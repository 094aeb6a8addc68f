"""Lines of a check file that do not do what they say.

Checks that never run, or not as their author means; what changes or hears the check process alone; and what is around a
call of student code, and does not cross with it. What does not work at all is not looked for: it raises an error.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.lint.scope import CHECK, FIXTURE, Function, Scope, Source, parameters

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


_XFAIL = re.compile(r"pytest\.(mark\.)?xfail|unittest\.expectedFailure")


def not_graded(source: Source) -> Iterator[Finding]:
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


def process_wide(source: Source) -> Iterator[Finding]:
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


def around_calls(source: Source) -> Iterator[Finding]:
    """Every mode or listener around a call: in a block, or as a decorator."""
    for scope in map(Scope, source.functions):
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
