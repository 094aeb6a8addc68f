"""What is left to do in a ported file, as comments at each place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from grader.author.port.plain import Plain
from grader.author.port.text import Edits, first_line
from grader.lint import findings
from grader.lint.source import Function, Source, parameters

_FIXTURES = {"student", "reference", "rng", "probe", "files", "accelerator", "request", "tmp_path"}
_FILES = re.compile(r"(torch|numpy)\.load|pandas\.read_\w+|open|open_code")
_DRAWS = re.compile(r"(numpy\.)?random\.\w+|torch\.(rand(n|int|perm)?(_like)?|normal)")
_ELSEWHERE = "numbers from a file: compare with `reference.f(...)`, or list the file under `files:` in exercise.yaml"


def with_todos(text: str, plain: Plain, *, of_checks: bool) -> str:
    """The text with a comment at each place where something is left to do.

    Args:
        text: of a ported file.
        plain: what it was ported from.
        of_checks: whether it is a check file, and not the probe file.
    """
    tree, edits = ast.parse(text), Edits(text)
    ranges = [(first_line(node), node.end_lineno or 0) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    todos = [*_by_name(tree, plain, of_checks=of_checks), *_too_early(tree, plain)]
    if of_checks:
        todos += [(finding.line, str(finding)) for finding in findings(text)]
    # Above the innermost statement; a function begins with its decorators.
    above = {line: max((first for first, last in ranges if first <= line <= last), default=line) for line, _ in todos}
    for place, todo in dict.fromkeys((above[line], todo) for line, todo in todos):
        edits.comment(place, f"TODO: {todo}")
    return edits.result()


def todos_of(text: str) -> Iterator[tuple[int, str]]:
    """The line and the text of each comment that says what is left to do."""
    for match in re.finditer(r"^ *# TODO: (.+(?:\n *#   .+)*)|\bTODO: (write .+?)[.\"]*$", text, re.MULTILINE):
        words = re.sub(r"\n *#  +", " ", match[1] or match[2])
        yield text.count("\n", 0, match.start()) + 1, words


def _by_name(tree: ast.Module, plain: Plain, *, of_checks: bool) -> Iterator[tuple[int, str]]:
    source = Source(tree)
    fixtures = {node.name for node in source.functions if source.is_fixture(node)}
    for function in filter(source.is_pytests, source.functions):
        known = {*_FIXTURES, *fixtures, *parametrized(function)}
        if unknown := [f"`{name}`" for name in parameters(function) if name not in known]:
            yield function.lineno, f"no fixture {', '.join(unknown)} is here: write it in this file; for {_ELSEWHERE}"
    for node in source.nodes:
        if isinstance(node, ast.Name) and node.id == "self":
            yield node.lineno, "`self` is gone: checks are functions; make what it held in a fixture"
        elif isinstance(node, ast.Name) and node.id in plain.missing:
            module = plain.missing[node.id]
            yield node.lineno, f"`{node.id}` comes from {module}, which is not here: copy it to this file"
        elif isinstance(node, ast.Call):
            path = source.path(node) or ast.unparse(node.func)
            if _FILES.fullmatch(path):
                yield node.lineno, _ELSEWHERE
            elif of_checks and _DRAWS.fullmatch(path) and "generator=" not in ast.unparse(node):
                yield node.lineno, "draw this from `rng`, so that all inputs hang on the seed of the run"


def _too_early(tree: ast.Module, plain: Plain) -> Iterator[tuple[int, str]]:
    """Student code where a file is read: in constants, and in decorators."""
    read = [node for node in tree.body if not isinstance(node, (Function, ast.ClassDef))]
    read += [ast.Expr(one) for node in tree.body if isinstance(node, Function) for one in node.decorator_list]
    for node in (node for part in read for node in ast.walk(part) if isinstance(node, ast.Name)):
        if node.id in {*plain.names, *plain.modules}:
            yield node.lineno, f"student code is not there when this is read: name `{node.id}` inside the check"


def parametrized(function: ast.AST) -> set[str]:
    """The parameters that `pytest.mark.parametrize` gives a function."""
    names = set[str]()
    for one in getattr(function, "decorator_list", ()):
        if isinstance(one, ast.Call) and ast.unparse(one.func).endswith("parametrize") and one.args:
            for text in (part.value for part in ast.walk(one.args[0]) if isinstance(part, ast.Constant)):
                names |= set(re.findall(r"\w+", str(text)))
    return names
