"""A function of a test file as one of a check file, or of the probe file; asserts as helpers of `grader.check`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping

from grader.author.port.plain import Plain
from grader.author.port.text import Edits, Item
from grader.lint.scope import Function, Kind, Scope, Source, parameters, scopes

_SEEDS = re.compile(r"torch\.(cuda\.)?manual_seed(_all)?|(numpy\.)?random\.seed")
_DRAWS = {f"torch.{name}" for name in ("randn", "rand", "randperm", "randint", "bernoulli", "multinomial", "normal")}
_KEPT_MARKS = ("pytest.mark.parametrize", "pytest.mark.usefixtures")
_SILENT_MARKS = re.compile(r"pytest\.mark\.(skip(if)?|xfail)")
_WRAPS = {
    "tmp_path": ("with TemporaryDirectory() as folder:", "tmp_path = Path(folder)"),
    "monkeypatch": ("with pytest.MonkeyPatch.context() as monkeypatch:", ""),
    "capsys": ("with redirect_stdout(StringIO()) as capsys:", ""),
}
"""Fixtures of pytest that a probe makes itself: the line that does so, and one more below it."""
CHECK = '@check("C1")\n'


class Rewriter:
    """Rewrites the functions of a test file.

    Args:
        plain: the test file.

    Attributes:
        fixtures: its fixtures, by name.
        needs: what a function of a check file takes besides its own parameters: "student", "rng".
        beside: what one of the probe file takes: the student's functions and classes.
    """

    def __init__(self, plain: Plain) -> None:
        self.plain = plain
        self._source = Source(ast.parse("".join(map(_import, plain.imports.items()))))
        self._functions = [item for item in plain.items if isinstance(item.node, Function)]
        self.fixtures = {item.name: item for item in self._functions if self._source.is_fixture(item.node)}
        self._helpers = {item.name: item for item in self._functions if item not in plain.tests}
        for name in self.fixtures:
            del self._helpers[name]
        self.needs = self._needs(self._of_check, self._helpers)
        self.beside = self._needs(lambda node: set(self.names(node)), self._helpers | self.fixtures)

    def names(self, node: ast.AST) -> list[str]:
        """The student's functions and classes that a function's body names."""
        return [task for _, task in self.plain.students(node)]

    def _of_check(self, node: ast.AST) -> set[str]:
        draws = not _binds(node, "rng") and "rng" not in self.fixtures and any(map(self._draw, _calls(node)))
        return {need for need, is_so in (("student", self.names(node)), ("rng", draws)) if is_so}

    def _needs(self, direct: Callable[[ast.AST], set[str]], passed: Mapping[str, Item]) -> dict[str, list[str]]:
        needs = {item.name: direct(item.node) for item in self._functions}
        for _ in needs:  # a helper calls a helper
            for item in self._functions:
                needs[item.name] |= {need for name in item.uses & passed.keys() for need in needs[name]}
        return {name: sorted(all_of, key=lambda need: (need != "student", need)) for name, all_of in needs.items()}

    # -- check files ----------------------------------------------------------------------------------------------

    def for_checks(self, item: Item) -> str:
        """A statement of a check file; "" if nothing is left of it."""
        node = item.node
        if not isinstance(node, Function):
            return "" if self._is_seed(node) else item.text
        if all(map(self._is_seed, node.body)):
            return ""
        edits, needs, is_test = Edits(item.text), self.needs[item.name], item in self.plain.tests
        own = [ast.unparse(node.args)] if item.name in self._helpers and parameters(node) else parameters(node)
        header = "async " * isinstance(node, ast.AsyncFunctionDef)
        header += f"def {self.name_in_checks(item.name)}({', '.join([*needs, *own])}):"
        if is_test and ast.get_docstring(node) is None:
            header += f'\n    """{_title_of(item.name)}"""'
        if node.body[0].lineno == node.lineno:
            header += "\n   "
        if is_test and node.decorator_list:
            edits.insert(edits.start(node.decorator_list[0]) - 1, CHECK)
        elif is_test:
            header = CHECK + header
        edits.header(node, header)
        self._decorators(edits, node, is_test=is_test, scoped=not needs)
        self._body(edits, node, self.needs, self._helpers, "student.")
        bodies = (getattr(inner, "body", None) for inner in ast.walk(node))
        for block in (body for body in bodies if isinstance(body, list)):
            for statement in (one for one in block if self._is_seed(one)):
                if len(block) > 1:
                    edits.drop_lines(statement.lineno, statement.end_lineno or 0)
                else:
                    edits.replace(statement, "pass")
        return self._drawn(edits.result()) if "rng" in needs else edits.result()

    def name_in_checks(self, name: str) -> str:
        """What a function is called in a check file, where a name that begins with check_ means a check."""
        if any(item.name == name for item in self.plain.tests):
            return f"check_{name.removeprefix('test').strip('_') or 'all'}"
        return f"_{name}" if name.startswith("check_") else name

    def _decorators(self, edits: Edits, node: Function, *, is_test: bool, scoped: bool) -> None:
        for one in node.decorator_list:
            path = self._source.path(one)
            if is_test and path.startswith("pytest.mark.") and path not in _KEPT_MARKS:
                edits.drop_lines(one.lineno, one.end_lineno or 0)
                if _SILENT_MARKS.fullmatch(path):
                    mark = ast.unparse(one).removeprefix("pytest.mark.")
                    edits.comment(one.lineno, f"TODO: the test had the mark {mark}, and a check has none")
            elif path == "pytest.fixture" and isinstance(one, ast.Call) and not scoped:
                words = [ast.unparse(word) for word in one.keywords if word.arg != "scope"]
                edits.replace(one, f"pytest.fixture({', '.join(words)})" if words else "pytest.fixture")

    def _body(
        self, edits: Edits, node: Function, needs: Mapping[str, list[str]], passed: Mapping[str, Item], prefix: str
    ) -> None:
        """Name student code as a place does, and give helpers what they need."""
        for name, task in self.plain.students(node):
            edits.replace(name, f"{prefix}{task}")
        for call in _calls(node):
            if isinstance(call.func, ast.Name) and call.func.id in passed:
                if needs[call.func.id]:
                    edits.prepend_argument(call, ", ".join(needs[call.func.id]))
                if prefix and (new := self.name_in_checks(call.func.id)) != call.func.id:
                    edits.replace(call.func, new)

    # -- random inputs --------------------------------------------------------------------------------------------

    def _is_seed(self, node: ast.stmt) -> bool:
        return isinstance(node, ast.Expr) and _SEEDS.fullmatch(self._source.path(node.value)) is not None

    def _drawn(self, text: str) -> str:
        """A function that draws from `rng`."""
        edits = Edits(text)
        for call in _calls(ast.parse(text)):
            if new := self._draw(call):
                edits.replace(call, new)
        return edits.result()

    def _draw(self, call: ast.Call) -> str:
        """A draw of PyTorch's as one from `rng`; "" for any other call."""
        draws = self._source.path(call) in _DRAWS and all(word.arg != "generator" for word in call.keywords)
        return f"{ast.unparse(call)[:-1]}, generator=rng)" if draws else ""

    # -- probe files ----------------------------------------------------------------------------------------------

    def for_probe(self, item: Item) -> str:
        """A statement of the probe file: fixtures are functions, and tests make what they take themselves."""
        node = item.node
        if not isinstance(node, Function):
            return "" if self._is_seed(node) else item.text
        edits = Edits(item.text)
        taken = parameters(node)
        made = [f"{name} = {self._made(name)}" for name in taken if name in self.fixtures]
        wraps = [_WRAPS[name] for name in taken if name in _WRAPS]
        params = [*self.beside[item.name], *self.given_to_probe(node)]
        if item.name in self._helpers:
            params = [*self.beside[item.name], *([ast.unparse(node.args)] if taken else [])]
        edits.header(node, f"def {self.name_in_probe(item.name)}({', '.join(params)}):")
        if node.decorator_list:
            edits.drop_lines(node.decorator_list[0].lineno, node.lineno - 1)
        self._body(edits, node, self.beside, self._helpers, "")
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        if body and (made or wraps):
            indents = [" " * 4 * depth for depth in range(1, len(wraps) + 2)]
            rows = [indent + line for indent, (line, _) in zip(indents, wraps, strict=False)]
            rows += [indents[-1] + line for line in (*(inner for _, inner in wraps if inner), *made)]
            rows += [""] * (wraps != [] and isinstance(body[0], Function))
            edits.insert(edits.start(body[0]) - body[0].col_offset, "".join(f"{row}\n" for row in rows))
            edits.shift(body, 4 * len(wraps))
        return edits.result().replace("capsys.readouterr().out", "capsys.getvalue()")

    def given_to_probe(self, node: Function) -> list[str]:
        """The parameters of a test that its check hands to the probe: those of `parametrize`, and unknown fixtures."""
        return [name for name in parameters(node) if name not in self.fixtures and name not in _WRAPS]

    def _made(self, fixture: str) -> str:
        return f"{self.name_in_probe(fixture)}({', '.join(self.beside[fixture])})"

    def name_in_probe(self, name: str) -> str:
        """What a function is called in the probe file."""
        if name in self.fixtures:
            return f"make_{name}"
        if name in self._helpers:
            return name
        short = name.removeprefix("test").strip("_")
        return f"try_{short}" if short in {*self.plain.names.values(), *self._helpers, ""} else short

    def calls_probe(self, item: Item, check: str) -> str:
        """A check that leaves the work to the probe.

        Args:
            item: the test.
            check: it as a check.
        """
        node = item.node
        assert isinstance(node, Function)
        (written,) = (one for one in ast.parse(check).body if isinstance(one, Function))
        names, given = self.beside[item.name], self.given_to_probe(node)
        head = check.split("\n")[: written.lineno - 1]
        params = ", ".join(["student", "probe", *given])
        args = ", ".join([*(f"student.{name}" for name in names), *given])
        docstring = Edits(check).text(written.body[0])
        todo = "# TODO: return values from the probe and compare them here; student code could forge its asserts"
        lines = [f"def {written.name}({params}):", f"    {docstring}", f"    {todo}"]
        return "\n".join([*head, *lines, f"    probe.{self.name_in_probe(item.name)}({args})", ""])


def _title_of(test: str) -> str:
    """A title for a check, from the name of the test."""
    return test.removeprefix("test").strip("_").replace("_", " ").capitalize() or "All"


def _import(pair: tuple[str, tuple[str, str]]) -> str:
    name, (module, inner) = pair
    return f"from {module} import {inner} as {name}\n" if inner else f"import {module} as {name}\n"


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (one for one in ast.walk(node) if isinstance(one, ast.Call))


def _binds(node: ast.AST, name: str) -> bool:
    """Whether a function has a name of its own."""
    names = (one.id for one in ast.walk(node) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load))
    return name in names or any(one.arg == name for one in ast.walk(node) if isinstance(one, ast.arg))


# -- asserts -----------------------------------------------------------------------------------------------------------

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
