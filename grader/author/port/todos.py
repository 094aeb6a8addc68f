"""What is left to do: comments in ported files, and sentences about the reference."""

from __future__ import annotations

import ast
import importlib
import io
import re
import sys
import tokenize
from collections.abc import Collection, Container, Iterator, Sequence
from importlib.util import find_spec

from grader.author.port.data_files import files_read, first_literal, reads_file
from grader.author.port.rewrite import draws_from, has_generator
from grader.author.port.text import (
    Edits,
    docstring_of,
    missing_packages,
)
from grader.course.answers import first_line_number, undefined_and_defined_names
from grader.lint.lines import findings
from grader.lint.scope import CHECK, FIXTURE, CheckSource, parameters

_FIXTURES = {"student", "reference", "rng", "probe", "files", "accelerator", "request", "tmp_path"}
_GENERATORS = re.compile(r"numpy\.random\.(default_rng|RandomState)|random\.Random")
_OF_GENERATOR = (
    "this draws the same numbers in each run: write `{}(rng.integer(0, 2**32 - 1))`, and compare with `reference` "
    "where the expected numbers come from these draws"
)
_CLOCKS = re.compile(
    r"time\.(time|perf_counter|monotonic|process_time)(_ns)?|timeit\.(\w+\.)?(timeit|repeat|default_timer)"
)
_OF_CLOCK = (
    "seconds depend on the machine, and no check decides by them: write `assert_cpu_time_ratio`, which compares with "
    "the reference"
)
_GETS_SOURCE = re.compile(r"inspect\.getsource(lines)?|inspect\.getfile")
_OF_SOURCE = (
    "student code is in another process, and `inspect` does not see it: `assert_does_not_use(student.f, ...)`, "
    "`assert_no_loop_in_source(student.f)`, or `source(student)`, the text of the file"
)
_OF_OBJECT = (
    "of student code, what is not a value stays in the worker, and is never an instance of `{}` here: compare values "
    "of it, or write a probe"
)
_OF_SUBCLASS = (
    "a `{0}` of student code arrives as a plain {1}, and is never an instance of `{0}` here: compare its items, or "
    "write a probe that returns `isinstance(...)`"
)
_VALUES = {"", "torch", "numpy", "numbers", "typing", "types", "collections.abc"}
"""Packages whose classes a check may ask for: of others, objects do not cross."""
_SENT_AS = (str, int, float, tuple, dict, list)
"""As which a value of a class that derives from it arrives in a check."""
_ELSEWHERE = "numbers from a file: compare with `reference.f(...)`, or list the file under `files:` in exercise.yaml"


def with_todos(text: str, *, of_checks: bool, data: Container[str] = ()) -> str:
    """Return a ported file with a TODO comment above each statement that needs work.

    Args:
        text: the text of a ported file.
        of_checks: True if it is a check file, and False if it is the probe file.
        data: names of the data files that it can read.
    """
    tree, edits = ast.parse(text), Edits(text)
    ranges = [(first_line_number(node), node.end_lineno or 0) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    todos = list(_find_todos(text, of_checks=of_checks, data=data))
    if of_checks:
        todos += [(finding.line, str(finding)) for finding in findings(text)]
    # Above the innermost statement; a function begins with its decorators.
    above = {line: max((first for first, last in ranges if first <= line <= last), default=line) for line, _ in todos}
    for place, todo in dict.fromkeys((above[line], todo) for line, todo in todos):
        edits.comment(place, f"TODO: {todo}")
    return edits.result()


def lines_with_titles(text: str, titles: Collection[str]) -> Iterator[int]:
    """Yield the numbers of the lines in a file that are docstrings with one of these titles.

    The titles were made from a notebook, and the author is to write better ones.
    """
    made = {docstring_of(title) for title in titles}
    yield from (number for number, line in enumerate(text.split("\n"), 1) if line.strip() in made)


def todos_of(text: str, *, with_comments: bool = True) -> Iterator[tuple[int, str]]:
    """Yield the line number and the text of each TODO in a file.

    "# TODO: draw this from a generator" in the first line is `(1, "draw this from a generator")`.

    Args:
        text: the text of the file.
        with_comments: True if comments count, as in check files; those of a starter are for students.
    """
    todos: dict[int, str] = {}
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row, words = token.start[0], token.string
        if with_comments and token.type == tokenize.COMMENT and words.startswith("# TODO: "):
            todos[row] = words.removeprefix("# TODO: ")
            last = row
        elif token.type == tokenize.COMMENT and words.startswith("#   ") and last in todos:
            todos[last] += f" {words.removeprefix('#   ')}"  # it goes on
        elif token.type == tokenize.STRING:
            for number, line in enumerate(words.split("\n"), row):
                rest = line.partition("TODO: ")[2]
                if rest.startswith("write "):
                    todos[number] = rest.rstrip('."')
        elif token.type not in (tokenize.NL, tokenize.COMMENT):
            last = 0
    yield from todos.items()


def _find_todos(text: str, *, of_checks: bool, data: Container[str]) -> Iterator[tuple[int, str]]:
    """Yield the line number and the text of each TODO for a ported file.

    A TODO says what is missing in the file, or does not work there.
    """
    source = CheckSource(ast.parse(text))
    known = _FIXTURES | {node.name for node in source.functions if source.decorator(node, FIXTURE)}
    for function in (one for one in source.functions if source.decorator(one, CHECK, FIXTURE)):
        given = {name for one in function.decorator_list for name in _parametrize_names(source, one)}
        if unknown := [f"`{name}`" for name in parameters(function) if name not in known | given]:
            yield function.lineno, f"no fixture {', '.join(unknown)} is here: write it in this file; for {_ELSEWHERE}"
    missing, _ = undefined_and_defined_names(text)
    for node in source.nodes:
        if of_checks and isinstance(node, ast.AsyncFunctionDef):
            yield node.lineno, "an `async` check would pass for any answer: await in a probe, with `asyncio.run`"
        if isinstance(node, ast.Name) and node.id in missing:
            yield node.lineno, f"`{node.id}` is not defined here: define it in this file, or inside the check"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for module in missing_packages(node, data):
                yield node.lineno, f"`{module}` is not installed here: install it, or write this without it"
        elif isinstance(node, ast.Call) and (todo := _todo_of_call(source, node, of_checks=of_checks, data=data)):
            yield node.lineno, todo


def _todo_of_call(source: CheckSource, call: ast.Call, *, of_checks: bool, data: Container[str]) -> str:
    """Return a TODO that says what is left to do about a call in a ported file; else ""."""
    path = source.import_path(call) or ast.unparse(call.func)
    if reads_file(source, call) and first_literal(call) not in data and not _reads_from_files(call):
        return _ELSEWHERE
    if _CLOCKS.fullmatch(path):
        return _OF_CLOCK
    if not of_checks:
        return ""
    if path == "isinstance" and (kinds := [*_classes_of_packages(source, call)]):
        kind, plain = kinds[0]
        return _OF_SUBCLASS.format(kind, plain) if plain else _OF_OBJECT.format(kind)
    if _GETS_SOURCE.fullmatch(path):
        return _OF_SOURCE
    if _GENERATORS.fullmatch(path) and not any(isinstance(one, ast.Name) and one.id == "rng" for one in ast.walk(call)):
        return _OF_GENERATOR.format(ast.unparse(call.func))
    if (module := draws_from(path)) and not has_generator(call):
        draws_ints = "int" in path or path.endswith("randrange")
        example = "rng.integer(0, 9)" if draws_ints else "rng.uniform(3).numpy()"
        example = "rng.normal(3)" if module == "torch" else example
        return f"draw this from `rng`, for example `{example}`, so that all inputs depend on the seed of the run"
    return ""


def _reads_from_files(call: ast.Call) -> bool:
    """Return whether the first argument of a call is in the folder `files`, as in `open(files / "rows.csv")`."""
    return any(isinstance(one, ast.Name) and one.id == "files" for arg in call.args[:1] for one in ast.walk(arg))


def _classes_of_packages(source: CheckSource, call: ast.Call) -> Iterator[tuple[str, str]]:
    """Yield the classes in a call of `isinstance` that belong to packages other than PyTorch and NumPy.

    Each has the builtin as which an instance arrives, such as `("time.struct_time", "tuple")`; "" if it stays in the
    worker.
    """
    kinds = call.args[1].elts if len(call.args) == 2 and isinstance(call.args[1], ast.Tuple) else call.args[1:]
    for kind in kinds:
        module, _, name = source.import_path(kind).rpartition(".")
        if module in _VALUES or module.split(".")[0] in _VALUES:
            continue
        # Of Python's own modules alone: nothing of an author's is run.
        is_own = module.split(".")[0] in sys.stdlib_module_names
        found = getattr(importlib.import_module(module), name, None) if is_own and find_spec(module) else None
        bases = (base for base in _SENT_AS if isinstance(found, type) and issubclass(found, base))
        yield ast.unparse(kind), next((base.__name__ for base in bases), "")


def missing_part_sentences(reference: str, found: Container[str] = ()) -> Iterator[str]:
    """Yield a sentence for each thing that a reference lacks.

    It may lack a package that is not installed here, a name that it does not define, a data file that the exercise does
    not have, or code in place of `...`.

    Args:
        reference: the source of the reference.
        found: the names of the data files that the exercise has.
    """
    tree = ast.parse(reference)
    modules = [name for node in ast.walk(tree) for name in missing_packages(node, found)]
    for module in dict.fromkeys(modules):
        yield f"the reference imports `{module}`, which is not installed here: install it, or write this without it"
    if gaps := [node for node in ast.walk(tree) if _has_ellipsis(node) and not _is_reassigned(node, tree.body)]:
        yield f"the reference has `...` where its solution belongs, such as `{ast.unparse(gaps[0])}`: write it there"
    missing, _ = undefined_and_defined_names(reference)
    stars = any(one.name == "*" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for one in node.names)
    for name in () if stars else sorted(missing):
        yield f"the reference uses `{name}`, which it does not define, as a test may have done before: define it there"
    for name in (name for name in files_read(reference) if name not in found):
        yield f"the reference reads {name!r}: put the file into the exercise's folder, and list it under `files:`"


def _has_ellipsis(node: ast.AST) -> bool:
    """Return whether a node assigns, returns or passes `...`.

    In a starter, `...` stands where a student is to write code.
    """
    match node:
        case ast.Assign(value=ast.Constant(value=value)) | ast.Return(value=ast.Constant(value=value)):
            return value is ...
        case ast.Call(args=args):
            return any(isinstance(one, ast.Constant) and one.value is ... for one in args)
    return False


def _is_reassigned(node: ast.AST, body: Sequence[ast.stmt]) -> bool:
    """Return whether a statement below a node assigns the node's variable again.

    A solution does so below `x = ...`.
    """
    if not isinstance(node, ast.Assign):
        return False
    later = [one for one in body if isinstance(one, ast.Assign) and one.lineno > node.lineno]
    return any(ast.unparse(one.targets[0]) == ast.unparse(node.targets[0]) for one in later)


def _parametrize_names(source: CheckSource, decorator: ast.expr) -> list[str]:
    """Return the parameter names of a `pytest.mark.parametrize`; [] for another decorator.

    For `parametrize("x, y", ...)` they are `["x", "y"]`.
    """
    if source.import_path(decorator) != "pytest.mark.parametrize" or not isinstance(decorator, ast.Call):
        return []
    words = [word.value for word in decorator.keywords if word.arg == "argnames"]
    match [*decorator.args, *words][:1]:
        case [ast.Constant(value=str() as names)]:
            return [name.strip() for name in names.split(",")]
        case [ast.List(elts=names) | ast.Tuple(elts=names)]:
            return [str(name.value) for name in names if isinstance(name, ast.Constant)]
    return []
