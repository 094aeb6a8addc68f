"""A plain pytest file → the first draft of an exercise: shown and hidden checks, probes, starter, reference.

What tests do stays as it was written: the first lines of each check give student code the names that the test has for
it. What an author must decide is said in a comment `# TODO:` at its place; `grade verify` says what has no effect.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.course.answers import first_line, names_of
from grader.course.layout import Places
from grader.lint.scope import FIXTURE, Function, Source, imported, parameters
from grader.model.errors import CourseError

_LIBRARIES = sys.stdlib_module_names | {
    *("torch", "numpy", "pytest", "scipy", "pandas", "einops", "jaxtyping", "hypothesis", "torchvision", "sklearn"),
    *("matplotlib", "tqdm", "typing_extensions", "transformers", "tiktoken", "PIL", "yaml", "psutil"),
}
_HELPERS = {"common", "conftest", "fixtures", "helpers", "test_utils", "utils"}
"""Modules beside a test file that are the course's."""

_BESIDE = re.compile(
    r"\b(tmp_path|monkeypatch|mocker|capsys|autocast|optim|DataLoader)\b|\.(backward|grad|copy_)\b"
    r"|\bnn\.(?!Parameter)[A-Z]\w*\(|isinstance\(.+\bnn\."
)
"""What student code would have to be given or asked for, what is around a call, and what does not cross."""
_WRAPS = {
    "tmp_path": ("with TemporaryDirectory() as folder:", "    tmp_path = Path(folder)"),
    "monkeypatch": ("with pytest.MonkeyPatch.context() as monkeypatch:",),
    "capsys": ("with redirect_stdout(StringIO()) as capsys:",),
}
"""Fixtures of pytest that a probe makes itself."""
_PROBE_IMPORTS = """
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
"""
_NO_EXAMPLE = '# TODO: add try_this="...", a call that a student can try, which is not a hidden input'
_FORGED = "# TODO: return values from the probe and compare them here; student code could forge its asserts"
_STUB = "raise NotImplementedError  # TODO: write the parameters, or a class"


class Port:
    """The port of a plain pytest file.

    Args:
        content: of the file.

    Attributes:
        shown: the tests that become shown checks.
        hidden: those that become hidden ones.
        beside: those of either that need a probe.

    Raises:
        CourseError: there is nothing to port.
    """

    def __init__(self, content: bytes) -> None:
        try:
            text = content.decode("utf-8")
            whole = items_of(text)
        except (SyntaxError, ValueError) as error:
            raise CourseError(f"the test file is not valid Python ({error}); fix it first") from None
        code = "\n\n".join(_flat(item) for item in whole if _stays(item))
        self._names = dict[str, str]()  # the student's names, as the file has them and as the task has them
        for module in self._imported(whole, code):
            attributes = re.compile(rf"\b{module}\.(\w+)")
            self._names |= {f"{module}_{name}": name for name in attributes.findall(code)}
            code = attributes.sub(rf"{module}_\1", code)
        self._items = items_of(code)
        functions = [item for item in self._items if isinstance(item.node, Function)]
        source = Source(ast.parse(text))
        self._tests = {item.name: item for item in functions if item.name.startswith("test")}
        self._fixtures = {item.name: item for item in functions if source.decorator(item.function, FIXTURE)}
        if not self._tests:
            raise CourseError("the file has no tests: functions named test_...")
        named = {name: list(self._given(test).values()) for name, test in self._tests.items()}
        self._tasks = list(dict.fromkeys(name for names in named.values() for name in names))
        if not self._tasks:
            raise CourseError(
                "no test calls student code: nothing is imported from a module such as solution or adapters"
            )
        self._rules = {test: f"C{self._tasks.index(names[0]) + 1 if names else 1}" for test, names in named.items()}
        tests = list(self._tests)
        self.beside = [test for test in tests if _BESIDE.search(self._text_of(test))]
        plain = [test for test in tests if test not in self.beside]
        first = {self._rules[test]: test for test in reversed(plain) if not _DRAWS.search(self._text_of(test))}
        self.shown = [test for test in plain if test in first.values()] or (plain or tests)[:1]
        self.hidden = [test for test in tests if test not in self.shown]

    def _imported(self, whole: Sequence[Item], code: str) -> Iterator[str]:
        """The modules of the student's that are imported; names that are imported from one are noted."""
        for name, (module, inner) in (row for item in whole for row in imported(item.node).items()):
            *_, last = parts = module.split(".")
            is_module = not inner or not module.strip(".")
            if parts[0] in _LIBRARIES or (inner if is_module and inner else last) in _HELPERS:
                continue
            if inner == "*":
                self._names |= {name: name for name in names_of(code)[0]}
            elif is_module:
                yield name
            else:  # an adapter's name is the student's name with "run_" before it
                self._names[name] = inner.removeprefix("run_") if last == "adapters" else inner

    def _used(self, item: Item) -> dict[str, str]:
        """The names of student code in a function, each with the name that the task has for it."""
        nodes = list(ast.walk(item.function))
        own = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
        own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        inside = (node for statement in item.function.body for node in ast.walk(statement))
        names = [node.id for node in inside if isinstance(node, ast.Name) and node.id not in own]
        return {name: self._names[name] for name in names if name in self._names}

    def _given(self, item: Item) -> dict[str, str]:
        """Those that a probe is given for a function and its fixtures; those of its own come first."""
        given = self._used(item)
        for name in parameters(item.function):
            if name in self._fixtures:
                given |= self._given(self._fixtures[name])
        return given

    def files(self, places: Places) -> dict[Path, str]:
        """All files of the exercise but its description, by path from the course."""
        rules = [f"C{n}  `{name}(...)` TODO: write what it returns." for n, name in enumerate(self._tasks, 1)]
        task = "\n".join(["@title@", "", "TODO: write the task in one or two sentences.", "", *rules, ""])
        stubs = items_of("\n\n".join(f"def {name}(*args):\n    {_STUB}\n" for name in self._tasks))
        probe_is_shown = any(test in self.beside for test in self.shown)
        texts = {
            places.starter: assembled(task, stubs),
            places.reference: assembled("TODO: write the reference.", stubs),
            places.shown_checks: self._checks("Shown checks: students have this file.", self.shown),
            places.hidden_checks: self._checks(
                "Hidden checks: each names its rule and gives a call to try.", self.hidden, _NO_EXAMPLE
            ),
            places.probes[0 if probe_is_shown else 1]: self._probe(),
        }
        return {path: text for path, text in texts.items() if text}

    def _text_of(self, test: str) -> str:
        """The text of a test, with all that it needs."""
        return "".join(item.text for item in closure(self._items, [test]))

    def _checks(self, docstring: str, tests: Collection[str], *above: str) -> str:
        """A file of tests as checks, with lines above each, and with all that they need; "" without a test."""
        texts, wanted = [], [name for name, item in self._fixtures.items() if "autouse" in item.text]
        for item in self._items:
            name = item.name
            if name in self._tests:
                short = name.removeprefix("test").strip("_") or "all"
                head = [*above, f'@check("{self._rules[name]}")', *_decorators(item)]
                title = ast.get_docstring(item.function, clean=False) or short.replace("_", " ").capitalize()
                wanted += [f"check_{short}"] if name in tests else []
                write = self._calls_probe if name in self.beside else self._with_student
                texts.append(write(item, f"check_{short}", head, title))
            elif name in self._fixtures and self._used(item):
                # A fixture of a larger scope cannot have the student's code of one submission.
                marks = [re.sub(r"scope=[^,)]*,?\s*", "", mark) for mark in _decorators(item)]
                texts.append(self._with_student(item, name, marks, ""))
            else:
                texts.append(item.text)
        items = items_of("\n\n".join(["from grader.check import check", *texts]))
        return assembled(docstring, with_todos(closure(items, wanted))) if tests else ""

    def _with_student(self, item: Item, name: str, head: list[str], title: str) -> str:
        used = self._used(item)
        params = ", ".join(["student"] * bool(used) + list(filter(None, [ast.unparse(item.function.args)])))
        first = [f'"""{title}"""'] * bool(title) + [f"{name} = student.{task}" for name, task in used.items()]
        return _function(head, f"def {name}({params}):", first, _body(item))

    def _calls_probe(self, item: Item, name: str, head: list[str], title: str) -> str:
        given = self._given_beside(item)
        args = ", ".join([*(f"student.{task}" for task in self._given(item).values()), *given])
        call = f"probe.{_beside_name(item.name)}({args})"
        first = [f'"""{title}"""', _FORGED, call]
        return _function(head, f"def {name}({', '.join(['student', 'probe', *given])}):", first, "")

    def _given_beside(self, item: Item) -> list[str]:
        """The parameters of a test that its check hands to the probe: those of `parametrize`, and unknown fixtures."""
        return [name for name in parameters(item.function) if name not in self._fixtures and name not in _WRAPS]

    def _probe(self) -> str:
        """The probe file: tests and fixtures as functions, which are given student code."""
        texts = [_PROBE_IMPORTS]
        for item in closure(self._items, self.beside):
            if item.name not in self._tests.keys() | self._fixtures.keys():
                texts.append(item.text)
                continue
            params = [*self._given(item), *self._given_beside(item)]
            taken, body = parameters(item.function), _body(item).replace("readouterr().out", "getvalue()")
            first = [f"{name} = {_beside_name(name)}({', '.join(self._given(self._fixtures[name]))})"
                     for name in taken if name in self._fixtures]  # fmt: skip
            for depth, name in enumerate(name for name in taken if name in _WRAPS):
                first += [f"{'    ' * depth}{line}" for line in _WRAPS[name]]
                body = textwrap.indent(body, "    ")
            texts.append(_function([], f"def {_beside_name(item.name)}({', '.join(params)}):", first, body))
        items = items_of("\n\n".join(texts))
        wanted = closure(items, map(_beside_name, self.beside))
        return assembled("Runs beside the student's code.", wanted) if self.beside else ""


# -- functions with another head ---------------------------------------------------------------------------------------


def _stays(item: Item) -> bool:
    """Whether a statement is anything but an import of student code, a text, or what runs the file as a program."""
    match item.node:
        case ast.Import() | ast.ImportFrom():
            return all(module.split(".")[0] in _LIBRARIES for module, _ in imported(item.node).values())
        case ast.Expr(value=ast.Constant()) | ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return False
    return True


def _flat(item: Item) -> str:
    """A test class as functions, a function of one line as several; anything else as it is."""
    node = item.node
    if isinstance(node, Function) and node.body[0].lineno == node.lineno:
        return ast.unparse(node)
    if not isinstance(node, ast.ClassDef) or not node.name.startswith("Test"):
        return item.text
    body = "\n".join(item.text.splitlines()[first_line(node.body[0]) - 1 :])
    body = re.sub(rf"^ {{1,{node.body[0].col_offset}}}", "", body, flags=re.MULTILINE)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", node.name.removeprefix("Test")).lower()
    # Names of the class are names of the file; those of its bases are not there, and are reported.
    return re.sub(r"^def test", f"def test_{words}", re.sub(r"\bself(\.|, |(?=\)))", "", body), flags=re.MULTILINE)


def _decorators(item: Item) -> list[str]:
    """Those of a function; an expected failure has no effect on a check."""
    marks = [f"@{ast.unparse(one)}" for one in item.function.decorator_list]
    return [mark for mark in marks if not mark.startswith("@pytest.mark.xfail")]


def _body(item: Item) -> str:
    """The statements of a function as they are written, without its docstring."""
    node = item.function
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    lines = item.text.splitlines()
    return "\n".join(lines[_with_comments(lines, first_line(body[0]) - 1) : node.end_lineno]) if body else ""


def _function(head: Sequence[str], signature: str, first: Sequence[str], body: str) -> str:
    return "\n".join([*head, signature, *(f"    {line}" for line in first), body or "    pass" * (not first)])


def _beside_name(name: str) -> str:
    """What a test or a fixture is called in the probe file."""
    return f"try_{name.removeprefix('test').strip('_')}" if name.startswith("test") else f"make_{name}"


# -- files as statements -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Item:
    """A statement at the top of a file, with the comments above it.

    Attributes:
        node: its syntax tree.
        text: as it is written.
        binds: the names that it binds.
        uses: the names that it mentions.
    """

    node: ast.stmt
    text: str
    binds: frozenset[str]
    uses: frozenset[str]

    @property
    def name(self) -> str:
        """The name of a function or class; "" of anything else."""
        return getattr(self.node, "name", "")

    @property
    def function(self) -> ast.FunctionDef | ast.AsyncFunctionDef:
        """The syntax tree of a function."""
        assert isinstance(self.node, Function)
        return self.node


def _with_comments(lines: Sequence[str], first: int) -> int:
    """Where the comments begin that stand right above a line."""
    while first and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return first


def items_of(text: str) -> list[Item]:
    """All statements at the top of a file, each with a syntax tree of its own."""
    lines, items = text.splitlines(keepends=True), []
    for whole in ast.parse(text).body:
        own = "".join(lines[_with_comments(lines, first_line(whole) - 1) : whole.end_lineno]).rstrip("\n") + "\n"
        (node,) = ast.parse(own).body
        uses, binds = names_of(own)
        uses |= {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
        items.append(Item(node, own, frozenset(binds), frozenset(uses - binds)))
    return items


def closure(items: Sequence[Item], names: Iterable[str]) -> list[Item]:
    """The items that these names need, in their order."""
    wanted, chosen = set(names), set[int]()
    while more := {place for place, item in enumerate(items) if item.binds & wanted} - chosen:
        chosen |= more
        wanted |= {name for place in more for name in items[place].uses}
    return [items[place] for place in sorted(chosen)]


def assembled(docstring: str, items: Iterable[Item]) -> str:
    """A file of these items in their order, with the blank lines that stand between them."""
    text, before = f'"""{docstring}"""\n', ""
    for item in items:
        kind = "import" if imported(item.node) else "large" if item.name else "small"
        lines = 2 if "large" in (kind, before) else int(kind != before)
        text, before = f"{text}{chr(10) * lines}{item.text}", kind
    return text


# -- what is left to do ------------------------------------------------------------------------------------------------

_DRAWS = re.compile(r"\brandom\.\w+\(|\btorch\.(rand\w*|normal|bernoulli|multinomial)\(")
_DRAWN = "draw all inputs from `rng`, so that they depend on the seed of the run"
_UNKNOWN = "`{}` is not defined here: define it in this file, or, if it is the student's, take it from `student`"


def with_todos(items: Sequence[Item]) -> Iterator[Item]:
    """The items of a check file, with a comment above each in which something is left to do."""
    missing, _ = names_of("".join(item.text for item in items))
    for item in items:
        todos = [_UNKNOWN.format(name) for name in sorted(names_of(item.text)[0] & missing)]
        todos += [_DRAWN] * bool(_DRAWS.search(item.text))
        yield replace(item, text="".join(f"# TODO: {todo}\n" for todo in todos) + item.text)
