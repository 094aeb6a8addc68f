"""What changes or listens to the check process alone, wherever it stands in the file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from grader.lint.source import HEARD, PROBE, Finding, Function, Source, parameters

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
