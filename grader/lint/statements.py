"""Checks and tests that never run, or not as their author means; what changes or hears the check process alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from grader.lint.scope import HEARD, PROBE, Finding, Function, Source, parameters

_OF_ONE_CHECK = ("student", "reference", "rng", "probe", "tmp_path")
_XFAIL = re.compile(r"pytest\.(mark\.)?xfail|unittest\.expectedFailure")
_SKIP = re.compile(r"pytest\.(mark\.skip(if)?|skip|importorskip)|unittest\.skip\w*")


def not_graded(source: Source) -> Iterator[Finding]:
    """Every finding of this kind."""
    inside = {
        function: parent.name
        for parent in source.nodes
        if isinstance(parent, (ast.ClassDef, Function))
        for function in ast.walk(parent)
        if function is not parent
    }
    first: dict[str, int] = {}
    for function in source.functions:
        name, line = function.name, function.lineno
        if function in inside:
            if source.is_check(function):
                yield Finding(line, f"`{name}` is inside `{inside[function]}` and is never run", "move it out of there")
            continue
        if source.is_check(function) and (before := first.setdefault(name, line)) != line:
            yield Finding(line, f"this `{name}` replaces the one on line {before}", "give each check its own name")
        yield from _name(name, line, is_check=source.is_check(function))
        yield from _scope(source, function)
    for node in (node for node in source.nodes if isinstance(node, (ast.Name, ast.Attribute))):
        path = source.path(node)
        if _XFAIL.fullmatch(path):
            yield Finding(node.lineno, f"`{path}` has no effect: a check that fails costs its points", "remove it")
        elif _SKIP.fullmatch(path):
            instead = 'for a GPU, write `@check(device="cuda")`; where a value rules out judging, raise `CannotJudge`'
            yield Finding(node.lineno, f"`{path}` leaves the check's points undecided in every report", instead)


def _name(name: str, line: int, *, is_check: bool) -> Iterator[Finding]:
    """A function whose name and decorator do not agree: pytest collects by the name, the decorator says the rule."""
    if name.startswith("test_"):
        yield Finding(line, f"`{name}` is never run", f'make it a check: `@check("C1")` and `def check_{name[5:]}`')
    elif is_check and not name.startswith("check_"):
        yield Finding(line, f"`{name}` is never run: the name of a check begins with check_", f"name it `check_{name}`")
    elif name.startswith("check_") and not is_check:
        what = f"`{name}` has no `@check`, so it is graded as a check of no rule with one share"
        yield Finding(line, what, f'write `@check("C1")` above it; if it is a helper, name it `{name[5:]}`')


def _scope(source: Source, function: Function) -> Iterator[Finding]:
    """A fixture that outlives what it takes."""
    fixture = source.decorator(function, "pytest.fixture")
    for keyword in fixture.keywords if isinstance(fixture, ast.Call) else ():
        taken = [name for name in parameters(function) if name in _OF_ONE_CHECK]
        if keyword.arg == "scope" and ast.unparse(keyword.value) != "'function'" and taken:
            what = f"every check that takes the fixture `{function.name}` fails: `{taken[0]}` belongs to one check"
            yield Finding(function.lineno, what, "remove `scope`")


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
    # A mode that ends with its block counts only where student code is called in it: see `calls`.
    ends = {
        item.context_expr for node in source.nodes if isinstance(node, (ast.With, ast.AsyncWith)) for item in node.items
    }
    for node in source.nodes:
        match node:
            case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[target, *_]):
                yield from _patch(source, target)
            case ast.Call() if node not in ends:
                path = source.path(node)
                if _SEEDS.fullmatch(path):
                    yield Finding(node.lineno, f"`{path}` seeds the check process, not student code", _SEEDED)
                elif _SETTINGS.fullmatch(path):
                    yield Finding(node.lineno, f"`{path}` changes the check process, not student code", PROBE)
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                for target in targets:
                    yield from _assigned(source, target)
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                yield from _assigned(source, target)
            case ast.FunctionDef() if source.is_pytests(node):
                yield from _listens(node)


def _assigned(source: Source, target: ast.expr) -> Iterator[Finding]:
    """An assignment to what belongs to an imported module: `torch.matmul = spy`, `os.environ["A"] = "1"`."""
    changed = target.value if isinstance(target, ast.Subscript) else target
    if isinstance(changed, ast.Attribute):
        yield from _patch(source, changed)


def _patch(source: Source, changed: ast.expr) -> Iterator[Finding]:
    if path := source.path(changed):
        instead = HEARD if path in ("sys.stdout", "sys.stderr") else PROBE
        yield Finding(changed.lineno, f"this changes `{path}` in the check process, not for student code", instead)


def _listens(function: Function) -> Iterator[Finding]:
    for name in parameters(function):
        if name in _FIXTURES:
            yield Finding(function.lineno, f"`{name}` reaches the check process, not student code", _FIXTURES[name])
