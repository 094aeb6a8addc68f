"""All files of an exercise from a plain pytest file, and what is left to do, as comments at each place."""

from __future__ import annotations

import ast
import io
import itertools
import json
import math
import re
import textwrap
import tokenize
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from grader.author.port.assignment import Assignment
from grader.author.port.frames import imports_data_frames, names_of_tables
from grader.author.port.rewrite import WORDS, Tests, has_generator, is_seed_call, with_helpers
from grader.author.port.text import (
    HELPERS,
    Edits,
    TopStatement,
    docstring_of,
    missing_packages,
    modules_among,
    source_of_file,
    statements_needed,
    top_statements,
)
from grader.course.answers import first_line_number, undefined_and_defined_names
from grader.course.layout import Places
from grader.course.load import MOST_DATA_MB
from grader.lint.asserts import asserting_functions
from grader.lint.lines import findings
from grader.lint.scope import CHECK, FIXTURE, CheckSource, Function, imported_names, parameters

_GRADIENTS = {"backward", "grad"}
"""Attributes that show that a test looks at gradients, which do not cross."""
_STAYS = re.compile(r"`(recwarn|caplog|capfd|mocker|pytest\.(skip|xfail))|no error arrives|no_grad|inference_mode")
"""Findings that a probe does not solve."""
_PROBE_IMPORTS = """
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
"""
_DOES = {True: "returns", False: "is"}
_WIDTH = 118
_NEEDS_YOURS = "if False:  # TODO write True when you have written what the code below needs"
_LOOKS_AT_NOTHING = (
    "# TODO: this looks at nothing of student code, and passes for every answer: leave it out, or look for a name in "
    "`source(student)`\n"
)
_ASSERTS_NOTHING = (
    "# TODO: this asserts nothing, and passes for every answer that does not raise: assert what is returned, or leave "
    "it out\n"
)
_NO_EXAMPLE = '# TODO: add try_this="...", a call that a student can try, which is not a hidden input\n'


@dataclass(frozen=True)
class Draft:
    """The files of an exercise, as texts.

    Attributes:
        starter: the starter, which students get.
        reference: the reference.
        shown: the shown checks.
        hidden: the hidden checks, or "".
        probe: the probe file, or "".
        probe_is_shown: True if it lies beside the shown checks.
        counts: the number of shown checks, of hidden ones, and of those among both that use the probe.
        points: the points of the exercise; None if nothing says them.
        by_hand: the points of the rules that a person grades, by rule.
        titles: the titles of checks that were made for the tests of a notebook.
    """

    starter: str
    reference: str
    shown: str
    hidden: str
    probe: str
    probe_is_shown: bool
    counts: tuple[int, int, int]
    points: float | None = None
    by_hand: Mapping[str, float] = field(default_factory=dict)
    titles: Collection[str] = ()

    def files(self, places: Places) -> dict[Path, str]:
        """Return the text of each file of the exercise, except exercise.yaml, by its path.

        Paths begin at the course's root.
        """
        texts = {
            places.starter: self.starter,
            places.reference: self.reference,
            places.shown_checks: self.shown,
            places.hidden_checks: self.hidden,
            places.probes[0 if self.probe_is_shown else 1]: self.probe,
        }
        return {path: text for path, text in texts.items() if text}


@dataclass
class _Rule:
    """A rule of the task: the student's names that it is about, and its words; [] if they are still to be written."""

    names: list[str]
    lines: list[str]

    def rows(self, number: int, calls: Mapping[str, str]) -> list[str]:
        """Return the lines of the rule in the docstring of the starter.

        Args:
            number: its number.
            calls: the call of each name, such as "f(x, y)".
        """
        heads = ", ".join(f"`{calls[name]}`" for name in self.names)
        if not self.lines:
            does = _DOES["(" in calls[self.names[0]]]
            return textwrap.wrap(f"C{number}  {heads} TODO: write what it {does}.", _WIDTH, subsequent_indent="    ")
        first, *more = ["", *self.lines] if re.match(r"- |\d+\. |  ", self.lines[0]) else self.lines
        head = ": ".join(filter(None, [heads, first])) or "These:"
        rows = textwrap.wrap(f"C{number}  {head}", _WIDTH, subsequent_indent="    ")
        for line in more:
            # A row of a table or of code is not wrapped.
            apart = line.startswith("  ")
            rows += [f"    {line}"] if apart else textwrap.wrap(f"    {line}", _WIDTH, subsequent_indent="    ")
        return rows


class Port:
    """The port of a plain pytest file.

    Args:
        text: the text of the file.
        reference: the text of a solution, if there is one.
        module: the only module that student code is in; "" if any may be that is not a library.
        points: the points of the tests, by name; a test that is not named has one point.
        hidden: the names of the tests that students do not see; None if nothing says it.
        given: the code that students get besides the stubs.
        data: names of the data files that students have, which code beside student code can read.
        notebook: the notebook that the file was made of; None without one.

    Raises:
        CourseError: there is nothing to port.
    """

    def __init__(
        self,
        text: str,
        reference: str = "",
        module: str = "",
        points: Mapping[str, Fraction] | None = None,
        hidden: Collection[str] | None = None,
        given: str = "",
        data: Collection[str] = (),
        notebook: Assignment | None = None,
    ) -> None:
        self._reference = reference
        self._known_hidden, self._given, self._data = hidden, given, data
        self._titles = notebook.titles() if notebook else {}
        self._plain = plain = Tests(
            text,
            {item.name for item in top_statements(reference)} if reference else (),
            module,
            data,
            self._titles,
        )
        helpers = [f"{HELPERS}{word}" for word in WORDS]
        self._has_points = bool(points)
        self._points = {test: (points or {}).get(test, Fraction(1)) for test in plain.tests}
        whole = with_helpers("\n\n".join([*helpers, *filter(None, map(plain.rewrite_for_checks, plain.items))]))
        self._items = top_statements(whole)
        self._beside = list(self._tests_for_probe(whole))
        # The student's functions and classes that each test is about: those that it names itself come first.
        named = {name: [*plain.student_names(test.node), *plain.beside[name]] for name, test in plain.tests.items()}
        self._used = named
        self._kept = notebook.given_names() if notebook else set[str]()
        self._skeletons = notebook.skeletons if notebook else {}
        self._names = [name for name in dict.fromkeys(itertools.chain(*named.values())) if name not in self._kept]
        known = top_statements(reference) if reference else []
        if notebook:  # students write also what no test calls by itself
            own = (item.name for item in known if item.name in notebook.solved)
            self._names = list(dict.fromkeys([*self._names, *own]))
        self._solved = notebook.solved if notebook else set[str]()
        self._task_rules, self._rules = self._list_rules(notebook or Assignment(""))
        by_hand = [question for question in notebook.by_hand if question.points] if notebook else []
        self._by_hand = by_hand if sum(self._points.values()) else []
        self._without_input = {name: name for item in known if not item.name for name in item.binds}
        self._without_input |= {item.name: f"{item.name}()" for item in known if _takes_no_arguments(item.node)}
        self._asserting = asserting_functions(source_of_file("", plain.items))

    def _list_rules(self, notebook: Assignment) -> tuple[list[_Rule], dict[str, str]]:
        """Return the rules of the task, and the name of each test's rule, such as "C2".

        A question of a notebook is a rule if it has words. Each function and variable that no such question describes
        is a rule of its own.

        Returns:
            The rules in order, and a dict with the name of a rule by the name of each test.
        """
        rules, keys = dict[str | int, _Rule](), dict[str, str | int]()
        for test, names in self._used.items():
            question, own = notebook.questions.get(test), [name for name in names if name not in self._kept]
            if question is not None and question.lines:
                of_question = [name for name in self._names if name in question.solved]
                rules.setdefault(id(question), _Rule(of_question, question.lines))
                keys[test] = id(question)
                continue
            for name in own:
                rules.setdefault(name, _Rule([name], []))
            if own:
                keys[test] = own[0]
        by_hand = {name for question in notebook.by_hand if question.points for name in question.solved}
        described = {name for rule in rules.values() for name in rule.names} | by_hand
        for name in (name for name in self._names if name not in described):
            words = next((each.lines for each in notebook.all_questions if name in each.solved), [])
            rules[name] = _Rule([name], words)
        # What a question describes has no other rule.
        of_questions = {name: key for key, rule in rules.items() if rule.lines for name in rule.names}
        rules = {key: rule for key, rule in rules.items() if rule.lines or key not in of_questions}
        keys = {test: of_questions.get(str(key), key) for test, key in keys.items()}
        places = list(rules)
        return [*rules.values()], {
            test: f"C{places.index(keys[test]) + 1 if test in keys else 1}" for test in self._plain.tests
        }

    def draft(self, title: str) -> Draft:
        """Return the draft of the exercise, with a TODO where work is left.

        It has the starter, the reference, the checks and the probe.
        """
        tests = list(self._plain.tests)
        plain = [test for test in tests if test not in self._beside]
        written = [test for test in plain if not self._draws_at_random(test)]
        first = {self._rules[test]: test for test in reversed(written)}
        shown = [test for test in plain if test in first.values()] or (plain or tests)[:1]
        if self._known_hidden is not None:
            public = [test for test in plain if test not in self._known_hidden]
            shown = [test for test in public if "reference" not in self._plain.needs[test]]  # students have none
        hidden = [test for test in tests if test not in shown]
        calls, stubs = stubs_of(
            self._plain, self._names, self._reference, self._given, self._skeletons,
            [name for names in self._used.values() for name in names if name in self._kept], self._solved,
        )  # fmt: skip
        by_hand_rules = (
            _Rule([name for name in self._names if name in question.solved], question.lines or [question.name])
            for question in self._by_hand
        )
        rules = [*self._task_rules, *by_hand_rules]
        lines = [row for number, rule in enumerate(rules, 1) for row in rule.rows(number, calls)]
        task = "\n".join([title, "", "TODO: write the task in one or two sentences.", "", *lines, ""])
        by_hand = {
            f"C{number}": float(question.points or 0)
            for number, question in enumerate(self._by_hand, len(self._task_rules) + 1)
        }
        # Not a comment: a starter with other comments is still the starter.
        places = [f"{rule} = None  # TODO your answer: a text, or code in its place\n" for rule in by_hand]
        automatic = float(sum(self._points.values()))
        starter = with_docstring(stubs, task) + "\n" * bool(places) + "".join(places)
        reference = _without_comments_of(starter, self._reference) + self._model_answers(by_hand)
        checks = self._check_file("Hidden checks: each names its rule and gives a call to try.", _NO_EXAMPLE, hidden)
        return Draft(
            starter=starter,
            reference=reference or stubs.replace(DOCSTRING, "TODO: write the reference."),
            shown=self._check_file("Shown checks: students have this file.", "", shown),
            hidden=_without_comments_of(starter, checks),
            probe=self._probe_file(),
            probe_is_shown=any(test in self._beside for test in shown),
            counts=(len(shown), len(hidden), len(self._beside)),
            points=automatic + sum(by_hand.values()) if self._has_points else None,
            by_hand=by_hand,
            titles=self._titles.values(),
        )

    def _model_answers(self, rules: Collection[str]) -> str:
        """Return the source of the model answers to the questions that a person grades, for the reference.

        Code that the reference already has is left out.

        Args:
            rules: the names of the rules of these questions, in their order.
        """
        rows = []
        for rule, question in zip(rules, self._by_hand, strict=True):
            if question.answer and not _has_code(self._reference, question.answer):
                rows.append(f"{rule} = {_text_literal(question.answer)}\n")
        return "\n" * bool(rows) + "".join(rows)

    def _share(self, test: str) -> int:
        """Return the `share` of a check, which is a whole number.

        The shares of the checks are in the ratio of the points of their tests.
        """
        unit = math.lcm(*(points.denominator for points in self._points.values()))
        common = math.gcd(*(int(points * unit) for points in self._points.values())) or 1
        return int(self._points[test] * unit) // common

    def _draws_at_random(self, test: str) -> bool:
        """Return whether a test draws its inputs at random."""
        return "rng" in self._plain.needs[test] or self._plain.keeps_seed(self._plain.tests[test].node)

    def _tests_for_probe(self, whole: str) -> Iterator[str]:
        """Yield the tests that must run in the worker, beside student code.

        The linter reports them, or they need an object that a check cannot get: a gradient, a table of pandas, a figure
        of matplotlib.

        Args:
            whole: the source of a check file with all of the tests.
        """
        known = top_statements(self._reference)
        frames, tables = imports_data_frames([*self._plain.items, *known]), names_of_tables(known) if known else None
        lines = {finding.line for finding in findings(whole) if not _STAYS.search(str(finding))}
        functions = [node for node in ast.parse(whole).body if isinstance(node, Function)]
        flagged = {
            node.name for node in functions if lines & {*range(first_line_number(node), (node.end_lineno or 0) + 1)}
        }
        for test in self._plain.tests:
            needed = statements_needed(self._plain.items, [test])
            names = {self._plain.name_in_checks(item.name) for item in needed} - self._plain.fixtures.keys()
            nodes = [node for item in needed for node in ast.walk(item.node)]
            own = {node.func for node in nodes if isinstance(node, ast.Call) and len(node.args) > 1}
            nodes = [node for node in nodes if node not in own]  # a method of a loss, which is called `backward`, too
            others = [item for item in needed if item.name != test]
            if (
                names & flagged
                or any(map(_looks_at_gradients, nodes))
                or (frames and self._plain.needs_data_frames(test, others, tables))
                or self._plain.draws_figures(needed)
                or any(modules_among(item.node, self._data) for item in needed)
            ):
                yield test

    def _check_file(self, docstring: str, comment: str, tests: Sequence[str]) -> str:
        """Return the source of a check file with checks for these tests.

        It also has all that the checks need.

        Args:
            docstring: the docstring of the file.
            comment: a line with a comment that is put above each check; "" for none.
            tests: the names of the tests; without any, "" is returned.
        """
        names = {self._plain.name_in_checks(name): name for name in self._plain.tests}
        autouse = [name for name, item in self._plain.fixtures.items() if _is_autouse(item.node)]
        items = [item for item in self._items if item.name not in names]
        for item in (item for item in self._items if names.get(item.name) in tests):
            name = names[item.name]
            text = self._plain.check_by_probe(self._plain.tests[name], item) if name in self._beside else item.text
            own = self._used[name]
            # What takes no arguments has no hidden input.
            example = ", ".join(self._without_input[each] for each in dict.fromkeys(own) if each in self._without_input)
            example = example if comment and self._without_input.keys() >= {*own} else ""
            rule = _with_rule(text, self._rules[name], self._share(name), example)
            looks = bool(own) or "student" in self._plain.needs[name]
            missing = _LOOKS_AT_NOTHING if not looks else _ASSERTS_NOTHING if name not in self._asserting else ""
            items += top_statements("".join([missing, comment * (not example), rule]))
        wanted = [*autouse, *map(self._plain.name_in_checks, tests)]
        text = source_of_file(docstring, statements_needed(items, wanted))
        return with_todos(text, of_checks=True) if tests else ""

    def _probe_file(self) -> str:
        items = statements_needed(self._plain.items, self._beside)
        code = top_statements("\n\n".join([_PROBE_IMPORTS, *filter(None, map(self._plain.rewrite_for_probe, items))]))
        wanted = statements_needed(code, map(self._plain.name_in_probe, self._beside))
        text = source_of_file("Runs beside the student's code.", wanted)
        return with_todos(text, of_checks=False, data=self._data) if items else ""


def _takes_no_arguments(node: ast.stmt) -> bool:
    """Return whether a statement defines a function that is called without arguments."""
    return isinstance(node, Function) and not ast.unparse(node.args)


def _looks_at_gradients(node: ast.AST) -> bool:
    """Return whether a node is an attribute such as `x.grad` or `loss.backward`."""
    return getattr(node, "attr", "") in _GRADIENTS


def _without_comments_of(starter: str, reference: str) -> str:
    """Return the source of a reference without the comments that the starter has, too.

    No line of a solution may stand in a starter.
    """
    known = {words for _, words in _comments_in(starter)}
    rows = reference.splitlines(keepends=True)
    for row, words in [*_comments_in(reference)]:
        if words in known:
            line = rows[row - 1].rstrip("\n").removesuffix(words).rstrip()
            rows[row - 1] = f"{line}\n" if line else ""
    return "".join(rows)


def _comments_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comments in Python source, each with the number of its line."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.rstrip()


def _has_code(source: str, code: str) -> bool:
    """Return whether Python source has all statements of some code."""
    try:
        return all(ast.unparse(node) in ast.unparse(ast.parse(source)) for node in ast.parse(code).body)
    except SyntaxError:  # a text
        return False


def _text_literal(text: str) -> str:
    """Return the source of a string literal, which has several lines if the text has."""
    if "\n" not in text:
        return json.dumps(text, ensure_ascii=False)
    return f'"""\\\n{text.replace(chr(92), chr(92) * 2).replace(chr(34) * 3, chr(39) * 3)}\n"""'


def _is_autouse(fixture: ast.AST) -> bool:
    """Return whether a fixture has the argument `autouse`, so that all tests use it."""
    calls = [one for one in getattr(fixture, "decorator_list", ()) if isinstance(one, ast.Call)]
    return any(word.arg == "autouse" for call in calls for word in call.keywords)


def _with_rule(text: str, rule: str, share: int, example: str) -> str:
    """Return the source of a check with its arguments in the decorator `@check`.

    They are the rule, the share unless it is 1, and the example of a call unless it is "".
    """
    more = f", share={share}" if share != 1 else ""
    more += f", try_this={json.dumps(example)}" if example else ""
    edits = Edits(text)
    (function,) = (node for node in ast.parse(text).body if isinstance(node, Function))
    for one in function.decorator_list:
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "check":
            edits.replace(one, f"check({json.dumps(rule)}{more})")
    return edits.result()


# -- what a student is to write ----------------------------------------------------------------------------------------

DOCSTRING = "@docstring@"
"""Stands in the place of the docstring of the stubs."""
_USUAL_IMPORTS = ("import torch", "import numpy as np", "from torch import nn", "import torch.nn as nn")
"""Imports of the reference that students get, whether a stub needs them or not."""
_RAISES = "raise NotImplementedError"
_TODO = f"{_RAISES}  # TODO"


def with_docstring(stubs: str, task: str) -> str:
    """Return stubs with the task as their docstring.

    The docstring is a raw string if the task has a backslash.
    """
    task = task.replace('"""', "'''")
    prefix = "r" if "\\" in task else ""
    return stubs.replace(f'"""{DOCSTRING}', f'{prefix}"""{task}')


def stubs_of(
    plain: Tests,
    names: Sequence[str],
    reference: str,
    given: str = "",
    skeletons: Mapping[str, str] | None = None,
    kept: Sequence[str] = (),
    solved: Collection[str] = (),
) -> tuple[dict[str, str], str]:
    """Return stubs of what a student is to write, and how each of them is called.

    Args:
        plain: the test file.
        names: the student's functions, classes and variables that the test file uses.
        reference: the source of the reference, or "".
        given: the source that students get besides the stubs; what the reference does not need is left out. A
            statement that needs what students write stands at the end, and does not run at first.
        skeletons: functions and classes of which students get a part: their source with TODOs, by name.
        kept: names whose definitions students get as they are.
        solved: names that students write, those among `names` and others.

    Returns:
        A dict with the call of each name, such as "f(x, y)", and the source of all stubs with what they need.
    """
    known = top_statements(reference) if reference else []
    written = {item.name: item for item in known if item.name in names}
    variables = {name for item in known if not item.name for name in item.binds} - written.keys()
    imports = [item for item in known if imported_names(item.node)]
    needed = {item.text.rstrip() for item in (*statements_needed(known, [*names, *kept]), *imports)}
    own = [
        item
        for item in top_statements(given, with_parameters=False)
        if (item.text.rstrip() in needed or is_seed_call(item.node)) and item.name not in names
    ]
    own, late = _divide_by_need(own, {*names, *solved})
    begun = {name for item in own for name in item.binds}
    code = [
        (skeletons or {}).get(name) or _stub_of(written[name]) if name in written
        else f"{name} = {name}  # TODO\n" if name in begun
        else f"{name} = None  # TODO\n" if name in variables
        else _guessed_stub(plain, name)
        for name in names
    ]  # fmt: skip
    items = top_statements("\n\n".join(code))
    calls = {item.name: _call_text(item.node) for item in items} | {name: name for name in names if name in variables}
    whole = [*imports, *own, *items]
    chosen = statements_needed(whole, [*names, *begun])
    chosen += [item for item in whole if is_seed_call(item.node) or item.text.strip() in _USUAL_IMPORTS]
    stubs = source_of_file(DOCSTRING, [item for item in whole if item in chosen])
    waits = "".join(f"{textwrap.indent(ast.unparse(item.node), '    ')}\n" for item in late)
    return calls, stubs + (f"\n\n{_NEEDS_YOURS}\n{waits}" if late else "")


def _divide_by_need(
    given: Sequence[TopStatement], names: Collection[str]
) -> tuple[list[TopStatement], list[TopStatement]]:
    """Return the statements that can run before a student has written `names`, and the others.

    Definitions of functions and classes are always among the first.
    """
    early, late = list[TopStatement](), list[TopStatement]()
    missing = {*names}
    for item in given:
        if item.uses & missing and not isinstance(item.node, (Function, ast.ClassDef)):
            late.append(item)
            missing |= item.binds
        else:
            early.append(item)
            missing -= item.binds
    return early, late


def _call_text(node: ast.stmt) -> str:
    """Return how a function or a class is called, such as "f(x, y)"."""
    inits = [one for one in getattr(node, "body", ()) if isinstance(one, Function) and one.name == "__init__"]
    words = parameters(node) if isinstance(node, Function) else parameters(inits[0])[1:] if inits else []
    return f"{getattr(node, 'name', '')}({', '.join(words)})"


def _stub_of(item: TopStatement) -> str:
    """Return a function or class with a TODO in place of the code of each function.

    Private methods are left out, and docstrings are shortened.
    """
    node = ast.parse(item.text).body[0]
    for one in ast.walk(node):
        if isinstance(one, (Function, ast.ClassDef)):
            text = ast.get_docstring(one)
            first = [ast.Expr(ast.Constant(_first_paragraph(text, one.body[0].col_offset)))] if text else []
            public = [part for part in one.body if isinstance(part, Function) and not re.match("_(?!_)", part.name)]
            body = [*first, *(public if isinstance(one, ast.ClassDef) else ast.parse(_RAISES).body)]
            one.body = body or ast.parse("pass").body
    text = ast.unparse(node) + "\n"
    edits = Edits(text)
    for one in ast.walk(ast.parse(text)):
        if isinstance(one, ast.Raise):
            edits.replace(one, _TODO)
    return edits.result()


def _first_paragraph(text: str, column: int) -> str:
    """Return the first paragraph of a docstring, wrapped.

    All lines but the first are indented to `column`.
    """
    return f"\n{' ' * column}".join(textwrap.wrap(text.split("\n\n")[0], 110 - column, break_long_words=False))


def _guessed_stub(plain: Tests, name: str) -> str:
    """Return a stub of a function or class, with parameters guessed from its calls in tests.

    It has a parameter for each positional argument of the longest call, and for each keyword of any call.
    """
    functions = [node for item in plain.items for node, task in plain.student_nodes(item.node) if task == name]
    nodes = [node for item in plain.items for node in ast.walk(item.node)]
    calls = [node for node in nodes if isinstance(node, ast.Call) and node.func in functions]
    words = {word.arg: None for call in calls for word in call.keywords if word.arg}
    names: list[str] = []
    for place in range(max((len(call.args) for call in calls), default=0)):
        given = [call.args[place] for call in calls if len(call.args) > place]
        own = [arg.id.lower() for arg in given if isinstance(arg, ast.Name)]
        names.append(next(one for one in (*own, "x", "y", "z", f"arg{place}") if one not in {*names, *words}))
    params = ", ".join([*names, *(f"{word}=None" for word in words)])
    if not name[:1].isupper():
        return f"def {name}({params}):\n    {_TODO}\n"
    return f"class {name}:\n    def __init__({', '.join(filter(None, ['self', params]))}):\n        {_TODO}\n"


# -- what is left to do ------------------------------------------------------------------------------------------------

_FIXTURES = {"student", "reference", "rng", "probe", "files", "accelerator", "request", "tmp_path"}
_FILES = re.compile(r"(torch|numpy)\.load|pandas\.read_\w+|open|open_code")
_DATA = r"[\w-][\w.-]*(/[\w-][\w.-]*)*"
"""A name that `files:` of exercise.yaml takes."""
_DRAWS = re.compile(r"(numpy\.)?random\.\w+|torch\.(rand(n|int|perm)?(_like)?|normal)")
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
_VALUES = {"", "torch", "numpy", "collections", "numbers", "typing", "types"}
"""Packages whose classes a check may ask for: of others, objects do not cross."""
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
    """Yield the numbers of the lines in a file that are docstrings with one of these titles."""
    made = {docstring_of(title) for title in titles}
    yield from (number for number, line in enumerate(text.split("\n"), 1) if line.strip() in made)


def todos_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the text of each TODO in a file."""
    todos: dict[int, str] = {}
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row, words = token.start[0], token.string
        if token.type == tokenize.COMMENT and words.startswith("# TODO: "):
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
    if _reads_file(source, call) and _first_literal(call) not in data:
        return _ELSEWHERE
    if _CLOCKS.fullmatch(path):
        return _OF_CLOCK
    if not of_checks:
        return ""
    if path == "isinstance" and (kinds := [*_classes_of_packages(source, call)]):
        return _OF_OBJECT.format(kinds[0])
    if _GETS_SOURCE.fullmatch(path):
        return _OF_SOURCE
    if _GENERATORS.fullmatch(path):
        return _OF_GENERATOR.format(ast.unparse(call.func))
    if _DRAWS.fullmatch(path) and not has_generator(call):
        example = "rng.normal(3)" if path.startswith("torch.") else "rng.uniform(3).numpy()"
        return f"draw this from `rng`, for example `{example}`, so that all inputs depend on the seed of the run"
    return ""


def _classes_of_packages(source: CheckSource, call: ast.Call) -> Iterator[str]:
    """Yield the classes in a call of `isinstance` that belong to packages other than PyTorch and NumPy."""
    kinds = call.args[1].elts if len(call.args) == 2 and isinstance(call.args[1], ast.Tuple) else call.args[1:]
    for kind in kinds:
        path = source.import_path(kind)
        if "." in path and path.split(".")[0] not in _VALUES:
            yield ast.unparse(kind)


def files_read(text: str) -> list[str]:
    """Return the names of the files that Python source opens by a string literal.

    Each name is returned once, without "./".
    """
    source = CheckSource(ast.parse(text))
    calls = [node for node in source.nodes if isinstance(node, ast.Call) and _reads_file(source, node)]
    return list(dict.fromkeys(name for name in map(_first_literal, calls) if name))


def _first_literal(call: ast.Call) -> str:
    """Return the string literal that is the first argument of a call, without "./"; else ""."""
    match call.args:
        case [ast.Constant(value=str() as name), *_]:
            return name.removeprefix("./")
    return ""


def _reads_file(source: CheckSource, call: ast.Call) -> bool:
    reads = isinstance(call.func, ast.Attribute) and call.func.attr in ("read_text", "read_bytes")
    return reads or _FILES.fullmatch(source.import_path(call) or ast.unparse(call.func)) is not None


def _files_in_literals(text: str, folder: Path) -> Iterator[str]:
    """Yield the files of a folder whose names are string literals in Python source.

    The literals "data" and "x.csv" together also stand for the file "data/x.csv".
    """
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    texts = [node.value.removeprefix("./").rstrip("/") for node in nodes if isinstance(node.value, str)]
    texts = [name for name in dict.fromkeys(texts) if re.fullmatch(_DATA, name)]
    folders = ["", *(f"{name}/" for name in texts if (folder / name).is_dir())]
    for name in texts:
        yield from (f"{before}{name}" for before in folders if (folder / f"{before}{name}").is_file())


def read_data_files(
    folder: Path, *, named: Sequence[str] = (), listed: Sequence[str] = ()
) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the data files of a folder, and sentences on those that are too large.

    Args:
        folder: the folder that has the tests.
        named: Python sources; files that their string literals name are read.
        listed: names of files and folders that the assignment itself lists; these are read, too.

    Returns:
        The contents of the files, and a sentence for each file that is left out. The keys of both dicts are the names
        under which student code reads the files.
    """
    names = [name for text in named for name in _files_in_literals(text, folder) if not name.endswith(".py")]
    for name in (name.removeprefix("./").rstrip("/") for name in listed):
        inside = sorted((folder / name).rglob("*")) if (folder / name).is_dir() else [folder / name]
        names += [path.relative_to(folder).as_posix() for path in inside if path.is_file()]
    names = [name for name in dict.fromkeys(names) if re.fullmatch(_DATA, name)]
    sizes = {name: (folder / name).stat().st_size for name in names if not name.endswith(".ipynb")}
    left_out: dict[str, str] = {}
    # Small files come along, whichever large one is beside them.
    for name in sorted(sizes, key=lambda each: sizes[each], reverse=True):
        if sum(sizes.values()) > MOST_DATA_MB << 20:
            left_out[name] = (
                f"{name!r} has {sizes.pop(name) / (1 << 20):.1f} MiB, and the files of an exercise may have "
                f"{MOST_DATA_MB} MiB together: it was not copied; put a smaller part of it into the exercise's "
                "folder, and list it under `files:`"
            )
    return {name: (folder / name).read_bytes() for name in sizes}, left_out


def literals_for_student_code(checks: str) -> str:
    """Return the source of a list with the string literals that checks pass to student code."""
    calls = [node for node in ast.walk(ast.parse(checks)) if isinstance(node, ast.Call)]
    calls = [call for call in calls if ast.unparse(call.func).startswith("student.")]
    return repr([arg.value for call in calls for arg in call.args if isinstance(arg, ast.Constant)])


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
    """Return the parameter names of a `pytest.mark.parametrize`; [] for another decorator."""
    if source.import_path(decorator) != "pytest.mark.parametrize" or not isinstance(decorator, ast.Call):
        return []
    words = [word.value for word in decorator.keywords if word.arg == "argnames"]
    match [*decorator.args, *words][:1]:
        case [ast.Constant(value=str() as names)]:
            return [name.strip() for name in names.split(",")]
        case [ast.List(elts=names) | ast.Tuple(elts=names)]:
            return [str(name.value) for name in names if isinstance(name, ast.Constant)]
    return []
