"""All files of an exercise from a plain pytest file."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from grader.author.port.asserts import WORDS, with_helpers, without_no_grad
from grader.author.port.plain import read_plain
from grader.author.port.rewrite import CHECK, Rewriter
from grader.author.port.stubs import DOCSTRING, stubs_of
from grader.author.port.text import Item, assembled, closure, first_line, items_of
from grader.author.port.todo import parametrized, with_todos
from grader.lint import findings
from grader.lint.source import Function, parameters

_GRADIENTS = {"backward", "grad"}
"""Attributes that show that a test looks at gradients, which do not cross."""
_STAYS = re.compile(r"`(recwarn|caplog|capfd|mocker|pytest\.(skip|xfail))|no error arrives")
"""Findings for which a probe is no remedy."""
_LITERALS = {"tensor", "ones", "zeros", "arange", "eye", "full", "linspace"}
_PROBE_IMPORTS = {
    "TemporaryDirectory": ("tempfile", "TemporaryDirectory"),
    "Path": ("pathlib", "Path"),
    "redirect_stdout": ("contextlib", "redirect_stdout"),
    "StringIO": ("io", "StringIO"),
    "pytest": ("pytest", ""),
}
_NO_EXAMPLE = '# TODO: add try_this="...", a call that a student can try, which is not a hidden input\n'


@dataclass(frozen=True)
class Draft:
    """The files of an exercise, as texts.

    Attributes:
        starter: what students get.
        reference: the reference.
        shown: the shown checks.
        hidden: the hidden checks; "" if there are none.
        probe: the probe file; "" if there is none.
        probe_is_shown: whether it lies beside the shown checks.
        counts: how many shown and hidden checks there are, and how many of them use the probe.
    """

    starter: str
    reference: str
    shown: str
    hidden: str
    probe: str
    probe_is_shown: bool
    counts: tuple[int, int, int]


class Port:
    """The port of a plain pytest file.

    Args:
        text: of the file.
        reference: the text of a solution, if there is one.

    Raises:
        CourseError: there is nothing to port.
    """

    def __init__(self, text: str, reference: str = "") -> None:
        self._reference = reference
        self._plain = read_plain(text, {item.name for item in items_of(reference)} if reference else ())
        self._tests = self._plain.tests
        self._rewriter = Rewriter(self._plain)
        self._imports = {**self._plain.imports, **{word: ("grader.check", word) for word in WORDS}}
        code = "\n\n".join(filter(None, map(self._rewriter.for_checks, self._plain.items)))
        whole = with_helpers(without_no_grad(assembled("", items_of(code), self._imports)))
        self._beside = list(self._that_need_a_probe(whole))
        imports = (ast.Import, ast.ImportFrom, ast.Expr)
        items = [item for item in items_of(whole) if not isinstance(item.node, imports)]
        names = {self._rewriter.name_in_checks(test.name): test for test in self._tests}
        self._rest = [item for item in items if item.name not in names]
        self._checks = {names[item.name].name: item for item in items if item.name in names}
        self._names = list(dict.fromkeys(name for test in self._tests for name in self._named(test)))

    def draft(self, title: str) -> Draft:
        """All files of the exercise."""
        plain = [test for test in self._tests if test not in self._beside]
        first = {self._rule(test): test for test in reversed(plain) if self._is_literal(test)}
        shown = [test for test in plain if test in first.values()] or (plain or self._tests)[:1]
        hidden = [test for test in self._tests if test not in shown]
        calls, stubs = stubs_of(self._plain, self._names, self._reference)
        rules = [f"C{n}  `{calls[name]}` TODO: write what it returns." for n, name in enumerate(self._names, 1)]
        lines = [row for rule in rules for row in textwrap.wrap(rule, 118, subsequent_indent="    ")]
        task = "\n".join([title, "", "TODO: write the task in one or two sentences.", "", *lines, ""])
        examples = {self._rule(test): _example(self._checks[test.name]) for test in reversed(shown)}
        checks = [self._check(test, examples.get(self._rule(test), "")) for test in hidden]
        return Draft(
            starter=stubs.replace(DOCSTRING, task),
            reference=self._reference or stubs.replace(DOCSTRING, "TODO: write the reference."),
            shown=self._file("Shown checks: students have this file.", [self._check(test) for test in shown]),
            hidden=self._file("Hidden checks: each names its rule and gives a call to try.", checks),
            probe=self._probe(),
            probe_is_shown=any(test in self._beside for test in shown),
            counts=(len(shown), len(hidden), len(self._beside)),
        )

    # -- what a test is about -------------------------------------------------------------------------------------

    def _that_need_a_probe(self, whole: str) -> Iterator[Item]:
        """Tests of which something must happen beside student code: what `grader.lint` reports, and gradients."""
        lines = {finding.line for finding in findings(whole) if not _STAYS.search(str(finding))}
        functions = [node for node in ast.parse(whole).body if isinstance(node, Function)]
        flagged = {node.name for node in functions if lines & {*range(first_line(node), (node.end_lineno or 0) + 1)}}
        for test in self._tests:
            needed = closure(self._plain.items, [test.name])
            names = {self._rewriter.name_in_checks(item.name) for item in needed} - self._rewriter.fixtures.keys()
            nodes = (node for item in needed for node in ast.walk(item.node))
            if names & flagged or any(getattr(node, "attr", "") in _GRADIENTS for node in nodes):
                yield test

    def _is_literal(self, test: Item) -> bool:
        """Whether all inputs of a test stand in it: nothing is drawn, and nothing is given by others."""
        needed = [item for item in closure(self._plain.items, [test.name]) if isinstance(item.node, Function)]
        draws = any("rng" in self._rewriter.needs[item.name] for item in needed)
        taken = parameters(test.node) if isinstance(test.node, Function) else []
        return not draws and set(taken) <= {*self._rewriter.fixtures, *parametrized(test.node)}

    def _named(self, test: Item) -> list[str]:
        """The student's functions and classes that a test is about: those that it names itself come first."""
        return list(dict.fromkeys([*self._rewriter.names(test.node), *self._rewriter.beside[test.name]]))

    def _rule(self, test: Item) -> str:
        return f"C{self._names.index(named[0]) + 1}" if (named := self._named(test)) else "C1"

    # -- files ----------------------------------------------------------------------------------------------------

    def _check(self, test: Item, example: str | None = None) -> Item:
        """A check; a hidden one has an example."""
        text = self._checks[test.name].text
        if test in self._beside:
            text = self._rewriter.calls_probe(test, text)
        words = [json.dumps(self._rule(test)), *([f"try_this={json.dumps(example)}"] if example else [])]
        text = text.replace(CHECK, f"@check({', '.join(words)})\n", 1)
        return items_of(_NO_EXAMPLE + text if example == "" else text)[0]

    def _file(self, docstring: str, checks: list[Item]) -> str:
        """A file of checks, with all that they need."""
        always = [item.name for item in self._rest if item.name in self._rewriter.fixtures and "autouse" in item.text]
        items = closure([*self._rest, *checks], [*always, *(item.name for item in checks)])
        return with_todos(assembled(docstring, items, self._imports), self._plain, of_checks=True) if checks else ""

    def _probe(self) -> str:
        items = closure(self._plain.items, [test.name for test in self._beside])
        code = "\n\n".join(filter(None, map(self._rewriter.for_probe, items)))
        text = assembled("Runs beside the student's code.", items_of(code), {**_PROBE_IMPORTS, **self._plain.imports})
        return with_todos(text, self._plain, of_checks=False) if items else ""


def _example(check: Item) -> str:
    """The first call of student code in a check whose arguments are all literal; "" if there is none."""
    for node in ast.walk(check.node):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="student"))):
                if _is_written_out([*node.args, *(word.value for word in node.keywords)]):
                    return ast.unparse(node).removeprefix("student.")
    return ""


def _is_written_out(values: Iterable[ast.expr]) -> bool:
    """Whether expressions are made of literals, and of functions such as `torch.ones`."""
    nodes = [node for value in values for node in ast.walk(value)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    functions = {getattr(node.func, "attr", "") for node in nodes if isinstance(node, ast.Call)}
    return names <= {"torch"} and functions <= _LITERALS
