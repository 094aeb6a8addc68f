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
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from grader.author.port.assignment import Assignment, Question
from grader.author.port.data_files import holds_text
from grader.author.port.frames import imports_data_frames, names_of_tables
from grader.author.port.rewrite import WORDS, Tests, with_helpers, without_leftovers
from grader.author.port.stubs import DOCSTRING, Given, stubs_of, with_docstring
from grader.author.port.text import (
    HELPERS,
    Edits,
    modules_among,
    source_of_file,
    statements_needed,
    top_statements,
)
from grader.author.port.todos import with_todos
from grader.course.answers import first_line_number
from grader.course.layout import Places
from grader.lint.asserts import asserting_functions
from grader.lint.lines import findings
from grader.lint.scope import Function

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
_LOOKS_AT_NOTHING = (
    "# TODO: this looks at nothing of student code, and passes for every answer: leave it out, or look for a name in "
    "`source(student)`\n"
)
_ASSERTS_NOTHING = (
    "# TODO: this asserts nothing, and passes for every answer that does not raise: assert what is returned, or leave "
    "it out\n"
)
_NOT_SHOWN = (
    "# TODO: the notebook shows no value for the line at the end, since its cells were not run: assert what it "
    "returns, or run them and draft again with --again\n"
)
_IS_POINTS = (
    "# TODO: nbgrader takes the number in the last line as the points: write a check for each part, with its `share`\n"
)
_NOTHING_IS_SHOWN = "# TODO: students see no check here: write at least one, such as an example of the task\n"
_NOTHING_IS_HIDDEN = (
    "# TODO: students see all checks here: write at least one hidden check, such as a comparison with `reference` on "
    "other\n#   inputs\n"
)
_SHOWN = "Shown checks: students have this file."
_HIDDEN = "Hidden checks: each names its rule and gives a call to try."
_NO_EXAMPLE = '# TODO: add try_this="...", a call that a student can try, which is not a hidden input\n'


@dataclass(frozen=True)
class Draft:
    """The files of an exercise, as texts.

    Attributes:
        starter: the starter, which students get.
        reference: the reference.
        shown: the shown checks.
        hidden: the hidden checks.
        probe: the probe file, or "".
        probe_is_shown: True if it lies beside the shown checks.
        counts: the number of shown checks, of hidden ones, and of those among both that use the probe.
        points: the points of the exercise; None if nothing says them.
        by_hand: the points of the rules that a person grades, by rule.
        titles: the titles of checks that were made for the tests of a notebook.
        untested: the rules that no test examines, such as "C5".
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
    untested: Sequence[str] = ()

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
    """A rule of the task.

    Attributes:
        names: the student's names that it is about.
        lines: its words; [] if they are still to be written.
        question: the question of a notebook that it states; None without one.
        by_hand: True if a person grades it.
    """

    names: list[str]
    lines: list[str]
    question: Question | None = None
    by_hand: bool = False

    def rows(self, number: int, calls: Mapping[str, str]) -> list[str]:
        """Return the lines of the rule in the docstring of the starter.

        A rule without words has the line "C1  `f(x, y)` TODO: write what it returns."

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
        data: the contents of the data files that students have, by name; code beside student code can read them.
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
        data: Mapping[str, bytes] | None = None,
        notebook: Assignment | None = None,
    ) -> None:
        self._reference = reference
        self._known_hidden, self._given, self._data = hidden, given, data or {}
        self._titles = notebook.titles() if notebook else {}
        self._plain = plain = Tests(
            text,
            {item.name for item in top_statements(reference)} if reference else (),
            module,
            self._data,
            self._titles,
        )
        helpers = [f"{HELPERS}{word}" for word in WORDS]
        self._has_points = bool(points)
        self._without_asserts = dict.fromkeys(notebook.not_shown, _NOT_SHOWN) if notebook else {}
        self._without_asserts |= dict.fromkeys(notebook.ends_with_points, _IS_POINTS) if notebook else {}
        self._points = {test: (points or {}).get(test, Fraction(1)) for test in plain.tests}
        items = filter(None, map(plain.rewrite_for_checks, plain.items))
        whole = without_leftovers(with_helpers("\n\n".join([*helpers, *items])))
        # What draws changes its generator, so that each of these statements needs those before it.
        self._items = [
            item
            if isinstance(item.node, Function)
            else replace(item, binds=item.binds | (item.uses & plain.generators))
            for item in top_statements(whole)
        ]
        self._beside = list(self._tests_for_probe(whole))
        # The student's functions and classes that each test is about: those that it names itself come first.
        named = {name: [*plain.student_names(test.node), *plain.beside[name]] for name, test in plain.tests.items()}
        self._used = named
        self._kept = notebook.names_in_starter() if notebook else set[str]()
        self._skeletons, self._loops = (notebook.skeletons, notebook.loops) if notebook else ({}, [])
        self._names = [name for name in dict.fromkeys(itertools.chain(*named.values())) if name not in self._kept]
        known = top_statements(reference) if reference else []
        if notebook:  # students write also what no test calls by itself
            own = (item.name for item in known if item.name in notebook.solved)
            self._names = list(dict.fromkeys([*self._names, *own]))
        self._solved = notebook.solved if notebook else set[str]()
        by_hand = [question for question in notebook.by_hand if question.points] if notebook else []
        self._by_hand = by_hand if sum(self._points.values()) else []
        self._task_rules, self._rules = self._list_rules(notebook or Assignment(""))
        self._without_input = {name: name for item in known if not item.name for name in item.binds}
        self._without_input |= {item.name: f"{item.name}()" for item in known if _takes_no_arguments(item.node)}
        self._asserting = asserting_functions(source_of_file("", plain.items))

    def _list_rules(self, notebook: Assignment) -> tuple[list[_Rule], dict[str, str]]:
        """Return the rules of the task, and the rule that each test examines.

        A question of a notebook is a rule if it has words, or if a person grades it. Each function and variable that no
        such question describes is a rule of its own. The rules have the order of the notebook's questions.

        Returns:
            The rules in order, and a dict such as `{"test_sum": "C2"}` with the name of each test's rule.
        """
        rules, keys = dict[str | int, _Rule](), dict[str, str | int]()
        for test, names in self._used.items():
            question, own = notebook.questions.get(test), [name for name in names if name not in self._kept]
            if question is not None and question.lines:
                of_question = [name for name in self._names if name in question.solved]
                rules.setdefault(id(question), _Rule(of_question, question.lines, question))
                keys[test] = id(question)
                continue
            for name in own:
                rules.setdefault(name, _Rule([name], [], question))
            if own:
                keys[test] = own[0]
        by_hand = {name for question in notebook.by_hand if question.points for name in question.solved}
        described = {name for rule in rules.values() for name in rule.names} | by_hand
        for name in (name for name in self._names if name not in described):
            question = next((each for each in notebook.all_questions if name in each.solved), None)
            rules[name] = _Rule([name], question.lines if question else [], question)
        for question in self._by_hand:
            solved = [name for name in self._names if name in question.solved]
            rules[f"{id(question)} by hand"] = _Rule(solved, question.lines or [question.name], question, by_hand=True)
        # What a question describes has no other rule.
        of_questions = {
            name: key for key, rule in rules.items() if rule.lines and not rule.by_hand for name in rule.names
        }
        rules = {key: rule for key, rule in rules.items() if rule.lines or key not in of_questions}
        keys = {test: of_questions.get(str(key), key) for test, key in keys.items()}
        places = sorted(rules, key=self._place_in(notebook, rules).__getitem__)
        return [rules[key] for key in places], {
            test: f"C{places.index(keys[test]) + 1 if test in keys else 1}" for test in self._plain.tests
        }

    @staticmethod
    def _place_in(notebook: Assignment, rules: Mapping[str | int, _Rule]) -> dict[str | int, int]:
        """Return the place of each rule's question in a notebook. A rule without one has that of the rule before it."""
        numbers = {id(question): number for number, question in enumerate(notebook.all_questions)}
        places, last = dict[str | int, int](), 0
        for key, rule in rules.items():
            places[key] = last = numbers.get(id(rule.question), last)
        return places

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
            self._plain,
            self._names,
            self._reference,
            Given(
                self._given,
                self._skeletons,
                self._loops,
                {name for names in self._used.values() for name in names if name in self._kept},
                self._solved,
            ),
        )
        numbered = {f"C{number}": rule for number, rule in enumerate(self._task_rules, 1)}
        lines = [row for number, rule in enumerate(self._task_rules, 1) for row in rule.rows(number, calls)]
        task = "\n".join([title, "", "TODO: write the task in one or two sentences.", "", *lines, ""])
        by_hand = {name: rule.question for name, rule in numbered.items() if rule.by_hand and rule.question}
        points_by_hand = {name: float(question.points or 0) for name, question in by_hand.items()}
        # Not a comment: a starter with other comments is still the starter.
        places = [f"{rule} = None  # TODO your answer: a text, or code in its place\n" for rule in by_hand]
        automatic = float(sum(self._points.values()))
        starter = with_docstring(stubs, task) + "\n" * bool(places) + "".join(places)
        reference = _without_comments_of(starter, self._reference) + self._model_answers(by_hand)
        checks = self._check_file(_HIDDEN, _NO_EXAMPLE, hidden) or f'"""{_HIDDEN}"""\n\n{_NOTHING_IS_HIDDEN}'
        return Draft(
            starter=starter,
            reference=reference or stubs.replace(DOCSTRING, "TODO: write the reference."),
            shown=self._check_file(_SHOWN, "", shown) or f'"""{_SHOWN}"""\n\n{_NOTHING_IS_SHOWN}',
            hidden=_without_comments_of(starter, checks),
            probe=self._probe_file(),
            probe_is_shown=any(test in self._beside for test in shown),
            counts=(len(shown), len(hidden), len(self._beside)),
            points=automatic + sum(points_by_hand.values()) if self._has_points else None,
            by_hand=points_by_hand,
            titles=self._titles.values(),
            untested=[name for name in numbered if name not in self._rules.values() and name not in by_hand],
        )

    def _model_answers(self, by_hand: Mapping[str, Question]) -> str:
        """Return the source of the model answers to questions that a person grades.

        An answer in words is a line such as `C5 = "It is even."`. It stands at the end of the reference. Code that the
        reference already has is left out.

        Args:
            by_hand: the questions by the names of their rules.
        """
        rows = []
        for rule, question in by_hand.items():
            if question.answer and not _has_code(self._reference, question.answer):
                rows.append(f"{rule} = {_text_literal(question.answer)}\n")
        return "\n" * bool(rows) + "".join(rows)

    def _share(self, test: str) -> int:
        """Return the `share` of a check, which is a whole number.

        If two tests have 1 and 1/2 points, the shares of their checks are 2 and 1.
        """
        unit = math.lcm(*(points.denominator for points in self._points.values()))
        common = math.gcd(*(int(points * unit) for points in self._points.values())) or 1
        return int(self._points[test] * unit) // common

    def _draws_at_random(self, test: str) -> bool:
        """Return whether a test draws its inputs at random."""
        return "rng" in self._plain.needs[test] or self._plain.keeps_seed(self._plain.tests[test].node)

    def _tests_for_probe(self, whole: str) -> Iterator[str]:
        """Yield the tests that must run in the worker, beside student code.

        The linter reports them, or they need an object that a check cannot get or send: a gradient, a table of pandas,
        a figure of matplotlib, an array of text from a file.

        Args:
            whole: the source of a check file with all of the tests.
        """
        known = top_statements(self._reference)
        frames, tables = imports_data_frames([*self._plain.items, *known]), names_of_tables(known) if known else None
        texts = [name for name, content in self._data.items() if holds_text(content)]
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
                or self._plain.loads_one_of(test, texts)
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
            nothing = self._without_asserts.get(name, _ASSERTS_NOTHING)
            missing = _LOOKS_AT_NOTHING if not looks else nothing if name not in self._asserting else ""
            items += top_statements("".join([missing, comment * (not example), rule]))
        wanted = [*autouse, *map(self._plain.name_in_checks, tests)]
        text = source_of_file(docstring, statements_needed(items, wanted))
        return with_todos(text, of_checks=True) if tests else ""

    def _probe_file(self) -> str:
        items = statements_needed(self._plain.items, self._beside)
        code = top_statements("\n\n".join([_PROBE_IMPORTS, *filter(None, map(self._plain.rewrite_for_probe, items))]))
        wanted = statements_needed(code, map(self._plain.name_in_probe, self._beside))
        text = source_of_file("Runs beside the student's code.", wanted)
        text = without_leftovers(text) if items else ""
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

    `@check("C1")` becomes `@check("C2", share=3, try_this="f(1)")`: the rule, the share unless it is 1, and the example
    of a call unless it is "".
    """
    more = f", share={share}" if share != 1 else ""
    more += f", try_this={json.dumps(example)}" if example else ""
    edits = Edits(text)
    (function,) = (node for node in ast.parse(text).body if isinstance(node, Function))
    for one in function.decorator_list:
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "check":
            edits.replace(one, f"check({json.dumps(rule)}{more})")
    return edits.result()
