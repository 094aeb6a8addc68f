"""What a notebook of otter-grader or nbgrader has: the solution, tests, points, and the words of its questions."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from grader.author.port.cells import (
    LONGEST_HEADING,
    SolutionCell,
    divide_at_headings,
    has_body,
    has_heading,
    heading_of,
    pictures_in,
    question_lines,
)
from grader.author.port.frames import PICTURES
from grader.author.port.rewrite import is_seed_call, loaded_variables
from grader.author.port.seeds import Seeds
from grader.author.port.text import (
    Edits,
    TopStatement,
    missing_packages,
    one_statement_per_line,
    statements_needed,
    top_statements,
)
from grader.course.answers import undefined_and_defined_names
from grader.intake.cells import python_of
from grader.lint.asserts import asserting_functions
from grader.lint.scope import Function, imported_names
from grader.model.errors import CourseError
from grader.model.score import pluralize

MODULE = "solution"
"""From which the test file of a notebook imports what students write."""
_DEFINED = re.compile(r"""(["'])([A-Za-z_]\w*)\1 in (?:vars|globals|locals|dir)\(\)""")
"""How a test of a notebook asks whether students wrote a variable."""
_ALL_NAMES = {"globals", "locals", "vars", "dir", "eval", "exec", "get_ipython", "In", "Out"}
"""Names by which a test may look at what students write without naming it."""
_MOST_QUOTED, _SHOWN_WORDS = 12, 50
"""Of words that belong to no question: the most cells that are quoted, and the letters of each."""


@dataclass
class Question:
    """A question of a notebook.

    Attributes:
        name: its name in the notebook; "" if it has none.
        heading: the first heading among its words; "" if it has none.
        lines: its words, as the lines of a rule; [] if it has none.
        solved: the names that its solution binds.
        points: the points that a person gives; None if tests give them.
        answer: the model answer of a question that a person grades; "" if it has none.
    """

    name: str = ""
    heading: str = ""
    lines: list[str] = field(default_factory=list)
    solved: set[str] = field(default_factory=set)
    points: Fraction | None = None
    answer: str = ""


@dataclass
class Assignment:
    """An assignment that was read from a notebook.

    Attributes:
        kind: "otter" or "nbgrader".
        code: the cells besides tests.
        solved: the names that cells of the solution bind.
        skeletons: functions and classes of which students have a part: their source with TODOs, by name.
        loops: loops and the like outside of functions of which students have a part: their source with TODOs.
        tests: the code of each test, by a name that a function can have.
        questions: the question of each test, by the name of the test.
        all_questions: all questions, in the notebook's order.
        by_hand: the questions that a person grades.
        pictures: the addresses of the pictures that questions show.
        points: the points of tests, by name, if the notebook says them; those of a cell or question are divided among
            its tests.
        hidden: the names of the tests that students do not see.
        not_shown: the names of the tests that compare with a value which the notebook does not show.
        ends_with_points: the names of the tests whose last line is the number of points that nbgrader takes.
        guessed: the names of the tests that assert a condition whose value the notebook does not show.
        files: the data files and folders that it lists.
        notes: sentences on what a person has to do, or decide.
        autotests: for each cell with nbgrader's autotests, a sentence on what to do.
    """

    kind: str
    code: list[str] = field(default_factory=list)
    solved: set[str] = field(default_factory=set)
    skeletons: dict[str, str] = field(default_factory=dict)
    loops: list[str] = field(default_factory=list)
    tests: dict[str, str] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    by_hand: list[Question] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    points: dict[str, Fraction] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    not_shown: set[str] = field(default_factory=set)
    ends_with_points: set[str] = field(default_factory=set)
    guessed: set[str] = field(default_factory=set)
    files: list[str] = field(default_factory=list)
    _given: list[str] = field(default_factory=list)
    _cells_before: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    autotests: list[str] = field(default_factory=list)
    all_questions: list[Question] = field(default_factory=list)
    _question: Question = field(default_factory=Question)
    _all_tests: dict[str, str] = field(default_factory=dict)
    _cells: dict[str, int] = field(default_factory=dict)
    _questions_of_code: list[Question] = field(default_factory=list)
    _between: list[tuple[int, str]] = field(default_factory=list)
    _left_out: list[tuple[int, str]] = field(default_factory=list)

    def begin_question(self, name: str = "") -> Question:
        """Begin a question, to which the following cells belong, and return it.

        The words that stand above it belong to it from the last heading on. Those above that heading are left out.
        """
        self._question = Question(name)
        self.all_questions.append(self._question)
        parts = [(number, part) for number, cell in self._between for part in divide_at_headings(cell)]
        first = max((place for place, (_, part) in enumerate(parts) if has_heading(part)), default=0)
        self._between = []
        self._left_out += parts[:first]
        self.add_words("\n\n".join(part for _, part in parts[first:]))
        return self._question

    def end_question(self) -> None:
        """End a question: the following cells belong to none."""
        self._question = Question()

    def add_words(self, markdown: str) -> None:
        """Add a cell of Markdown to the words of the question."""
        self._question.heading = self._question.heading or heading_of(markdown)
        self._question.lines += [line for line in question_lines(markdown) if line.strip()]
        self.pictures += pictures_in(markdown)

    def add_words_between(self, markdown: str, number: int) -> None:
        """Add a cell of Markdown that stands in no question, and may belong to the next one.

        Args:
            markdown: the source of the cell.
            number: the number of the cell in the notebook.
        """
        self._between.append((number, markdown))

    def leave_out_words_between(self) -> None:
        """Record that the words which stand in no question belong to none."""
        self._left_out += self._between
        self._between = []

    def has_words_between(self) -> bool:
        """Return whether words stand below the last question that may belong to the next one."""
        return any(markdown.strip() for _, markdown in self._between)

    def add_code(self, source: str, *, is_solution: bool) -> None:
        """Add a code cell that is not a test.

        If it is part of the solution, the names that it binds are recorded, too.
        """
        cell = SolutionCell(source)
        self.code.append(cell.code)
        self._questions_of_code.append(self._question)
        if is_solution:
            self.solved |= cell.solved
            self.skeletons |= cell.skeletons
            self.loops += cell.loops
            self._question.solved |= cell.solved
        self._given.append(cell.given if is_solution else cell.code)

    def add_given_cell(self, source: str, number: int) -> None:
        """Add a code cell that students get as it is, which may be an example of invalid Python.

        Args:
            source: the source of the cell.
            number: the number of the cell in the notebook.
        """
        text = python_of(source).text
        if problem := _syntax_problem(text):
            self.notes.append(f"cell {number} is not valid Python ({problem}), and no solution or test: it is left out")
        else:
            self.add_code(text, is_solution=False)

    def add_test(
        self,
        name: str,
        source: str,
        points: Fraction | None = None,
        *,
        is_hidden: bool = False,
        cell: int | None = None,
    ) -> str:
        """Add a test under a unique function name, and return that name.

        A test "q1" of the notebook is named `test_q1`, and a second one of this name `test_q1_2`.

        Args:
            name: the name in the notebook.
            source: its code.
            points: the points of the test, if the notebook says them.
            is_hidden: True if students do not see it.
            cell: the number of the cell in which it stands with others; None if it stands alone.
        """
        plain, source = re.sub(r"\W", "_", name) or "cell", one_statement_per_line(source)
        number = 1
        while (key := f"test_{plain}" + (f"_{number}" if number > 1 else "")) in self.tests:
            number += 1
        self.tests[key] = self._all_tests[key] = _DEFINED.sub(r"\2 is not None", source)
        self._cells_before[key] = len(self.code)
        self._cells[key] = cell if cell is not None else -len(self._cells) - 1
        self.questions[key] = self._question
        if points is not None:
            self.points[key] = points
        if is_hidden:
            self.hidden.add(key)
        return key

    def given_code(self) -> str:
        """Return the code that students get as it is, such as imports.

        It is neither solution nor a test.
        """
        return "\n\n".join(self._given)

    def names_in_starter(self) -> set[str]:
        """Return the names that students get and do not write.

        They are bound by code which students get as it is, and by no solution.
        """
        given = {name for item in top_statements(self.given_code(), with_parameters=False) for name in item.binds}
        return given - self.solved

    def titles(self) -> dict[str, str]:
        """Return a title for the check of each test, by the name of the test.

        It is the heading of its question, or the names that the question's solution binds. Several tests with one title
        are numbered: `{"test_q1": "Mean, test 1", "test_q1_2": "Mean, test 2"}`.
        """
        heads = {test: self._title_of(question) for test, question in self.questions.items()}
        titles, counts = dict[str, str](), Counter(heads.values())
        for test, head in heads.items():
            number = 1 + sum(heads[other] == head for other in titles)
            titles[test] = (f"{head}, test {number}" if counts[head] > 1 else head) if head else ""
        return titles

    def _title_of(self, question: Question) -> str:
        tested = question.solved & self._names_used_by_tests()
        names = ", ".join(f"`{name}`" for name in sorted(tested or question.solved))
        return question.heading or (names if len(names) <= LONGEST_HEADING else "") or question.name

    def drop_tests_that_pass_always(self) -> None:
        """Drop tests that every answer passes, such as a test that asserts nothing.

        The points of such a test go to the other tests of its cell, or else to those of its question. If a question has
        only such tests, they stay. A note names each test that was dropped.
        """
        reasons = self._reasons_to_pass()
        for test, reason in reasons.items():
            left = [other for other in self.tests if other not in reasons]
            others = [other for other in left if self._cells[other] == self._cells[test]]
            others = others or [other for other in left if self.questions[other] is self.questions[test]]
            if not others:
                continue  # which is left to do in the check file
            points = self.points.pop(test, Fraction(0))
            self.points |= {other: self.points.get(other, Fraction(0)) + points / len(others) for other in others}
            del self.tests[test], self.questions[test]
            names = ", ".join(other.removeprefix("test_") for other in others)
            has = f", and {names} {'has' if len(others) == 1 else 'have'} its points ({float(points):g})"
            self.notes.append(
                f"the test {test.removeprefix('test_')} {reason}, so that every answer would pass it: it is not "
                f"a check{has if points else ''}"
            )

    def worthless_sentences(self) -> Iterator[str]:
        """Yield a sentence on the tests that have no points, while others have some, if there are such tests."""
        names = [name.removeprefix("test_") for name in self.tests if self.points.get(name) == 0]
        if names and any(self.points.values()):
            yield (
                f"{', '.join(names)}: no points, since the other tests of the question have all of them, so that what "
                "fails there costs nothing: write another `share=` in place of 0"
            )

    def _reasons_to_pass(self) -> dict[str, str]:
        """Return the tests that every answer passes, each with the reason.

        They are, for example, `{"test_q1": "asserts nothing"}`. Only the tests of which this is certain are among them.
        """
        functions = {name: _as_function(name, source) for name, source in self.tests.items()}
        asserting = asserting_functions("\n\n".join([self.given_code(), *functions.values()]))
        reasons, students, items = dict[str, str](), self._students_names(), self._items()
        whole = self._tests_with_earlier_statements({name for item in items for name in item.binds})
        for name, source in whole.items():
            used = _names_used(_as_function(name, source))
            if name not in asserting and name not in self.not_shown | self.ends_with_points:
                reasons[name] = "asserts nothing"
            elif students and not used & (students | _ALL_NAMES):
                reasons[name] = "looks at nothing that students write"
        return reasons

    def not_shown_sentences(self) -> Iterator[str]:
        """Yield a sentence if tests compare with values that the notebook does not show."""
        count = len(self.guessed) + len(self.not_shown)
        if count:
            each = [
                f"in {len(self.guessed)} the draft asserts that the condition at the end is true",
                f"in {len(self.not_shown)} it asserts nothing yet",
            ]
            what = ", and ".join(text for text, has in zip(each, (self.guessed, self.not_shown), strict=True) if has)
            yield (
                f"the notebook shows no value below {pluralize(count, 'test')}, since its cells were not run: {what}. "
                "Run all of its cells, save it, and draft again with --again"
            )

    def left_out_words_sentences(self) -> Iterator[str]:
        """Yield a sentence that quotes the notebook's prose that is not in the task, if any.

        Such prose stands above another heading, or below the last question. Of many cells, the last have only numbers.
        """
        texts = [(number, " ".join(question_lines(words)).strip("- ")) for number, words in self._left_out
                 if has_body(words)]  # fmt: skip
        texts = [(number, text) for number, text in texts if text]
        if texts:
            quoted = [
                f"cell {number} {textwrap.shorten(text, _SHOWN_WORDS, placeholder=' ...')!r}"
                for number, text in texts[:_MOST_QUOTED]
            ]
            more = dict.fromkeys(str(number) for number, _ in texts[_MOST_QUOTED:])
            yield (
                "these words stand above another heading or below the last question, and are not in the task: "
                f"{'; '.join(quoted)}{'; and cells ' * bool(more)}{', '.join(more)}. Put what students need into the "
                "task, or on the page of the module"
            )

    def by_hand_sentences(self) -> Iterator[str]:
        """Yield a sentence for each question that a person grades.

        If questions show pictures, the last sentence is about the pictures.
        """
        for question in self.by_hand:
            points = float(question.points or 0)
            what = "its rule has `by: staff`" if points else "it has no points, and so no rule"
            yield f"{question.name} ({points:g} point{'s' * (points != 1)}) is graded by a person: {what}"
        if self.pictures:
            shown = ", ".join(dict.fromkeys(self.pictures))
            yield f"questions show pictures ({shown}), which a task cannot: put them on a page, or describe them"

    def later_change_sentences(self) -> Iterator[str]:
        """Yield a sentence for each variable that a test uses and a later cell of the notebook changes.

        The cell may stand below such a test, or in a later one of two questions that bind the variable.
        """
        looked: dict[str, list[str]] = {}
        for name, source in self.tests.items():
            later = self.code[self._cells_before[name] :]
            changed = {
                each for cell in later for item in top_statements(cell, with_parameters=False) for each in item.binds
            }
            used = _names_used(_as_function(name, source))
            for each in sorted(used & self._tested_variables() & changed):
                looked.setdefault(each, []).append(name.removeprefix("test_"))
        for each in sorted(self._tested_variables() - looked.keys()):
            binding = [
                question
                for cell, question in zip(self.code, self._questions_of_code, strict=True)
                if any(question is one for one in self.all_questions)
                and any(each in item.binds for item in top_statements(cell, with_parameters=False))
            ]
            if binding and binding[-1] is not binding[0]:
                looked[each] = [binding[0].name or self._title_of(binding[0])]
        for each, names in looked.items():
            yield (
                f"a cell below {', '.join(names)} changes `{each}`, and checks see its last value: give the later one "
                "another name, or write a function for each step"
            )

    def given_change_sentences(self) -> Iterator[str]:
        """Yield a sentence for each given variable that a test uses and a later cell binds to something else."""
        students, looked = self._students_names(), dict[str, list[str]]()
        cells = [[item for item in top_statements(cell, with_parameters=False) if not item.name] for cell in self.code]
        for name, source in self.tests.items():
            place = self._cells_before[name]
            known = {ast.unparse(item.node) for cell in cells[:place] for item in cell}
            bound = {each for cell in cells[:place] for item in cell for each in item.binds}
            changes = (item for cell in cells[place:] for item in cell if ast.unparse(item.node) not in known)
            later = {each for item in changes for each in item.binds}
            imported = {each for cell in cells for item in cell for each in imported_names(item.node)}
            for each in sorted(_names_used(_as_function(name, source)) & bound & later - students - imported):
                looked.setdefault(each, []).append(name.removeprefix("test_"))
        for each, names in looked.items():
            yield (
                f"a cell below {', '.join(names)} changes `{each}`, which the notebook gives, and checks see its last "
                "value: set it in each check"
            )

    def unsolved_names(self) -> list[str]:
        """Return the names that tests use and that no cell binds, if no test uses a name of the solution."""
        used = self._names_used_by_tests()
        bound = {name for item in self._items() for name in item.binds} | {*vars(builtins)}
        return [] if used & self._students_names() else sorted(used - bound)

    def _items(self) -> list[TopStatement]:
        # A parameter that is called as a variable of the notebook does not need that.
        return [item for cell in self.code for item in top_statements(cell, with_parameters=False)]

    def _names_used_by_tests(self) -> set[str]:
        """Return the names that tests use and do not define."""
        texts = [_as_function(name, source) for name, source in self.tests.items()]
        return {name for text in texts for name in _names_used(text)}

    def _tested_variables(self) -> set[str]:
        """Return the variables that tests use and that come from the solution.

        The solution binds them, or they are computed from what it binds.
        """
        items = [item for item in self._items() if not imported_names(item.node)]
        students = self._students_names()
        return students & self._names_used_by_tests() & {name for item in items if not item.name for name in item.binds}

    def _students_names(self) -> set[str]:
        """Return the names that the solution binds, all functions, and the names that are computed from these."""
        items = [item for item in self._items() if not imported_names(item.node)]
        students = self.solved | {item.name for item in items if item.name}
        while more := {name for item in items if item.uses & students for name in item.binds} - students:
            students |= more
        return students

    def modules(self, folder: Path) -> list[str]:
        """Return the names of the Python files in a folder that the notebook imports.

        Files that one of these files imports are among them.
        """
        items = [*self._items(), *(item for test in self._all_tests.values() for item in top_statements(test))]
        found, texts = dict[str, None](), [item.text for item in items if imported_names(item.node)]
        while texts:
            nodes = [node for node in ast.walk(ast.parse(texts.pop())) if isinstance(node, ast.Import | ast.ImportFrom)]
            names = {f"{root}.py" for node in nodes for root in missing_packages(node)} - found.keys()
            for name in sorted(name for name in names if (folder / name).is_file()):
                found[name] = None
                texts.append((folder / name).read_text(encoding="utf-8"))
        return list(found)

    def move_imports_of_figures(self) -> None:
        """Move the import of a package that draws, such as matplotlib, into the given functions that alone need it.

        It would take a second or more at each start of a worker. A note says so.
        """
        known = [item for item in top_statements(self.reference()) if not imported_names(item.node)]
        for item in (item for item in self._items() if _imports_figures(item.node)):
            users = [one for one in known if one.uses & item.binds]
            if not users or any(one.name in self.solved or _needs_at_once(one.node, item.binds) for one in users):
                continue
            line = ast.unparse(item.node)
            for one in users:
                text, new = one.text.rstrip("\n"), _with_first_line(one.text, line).rstrip("\n")
                self.code = [cell.replace(text, new) for cell in self.code]
                self._given = [cell.replace(text, new) for cell in self._given]
            names = ", ".join(f"`{one.name}`" for one in users)
            self.notes.append(f"`{line}` makes each start slower, and only {names} needs it: it stands in there")

    def reference(self, data: Collection[str] = ()) -> str:
        """Return the source of the reference.

        It has the functions, the classes, the tested variables, and the statements that these need.

        Args:
            data: names of the data files. Variables that are loaded from them and used by tests belong to the
                reference, too.
        """
        tested = [
            item for source in self._all_tests.values() for item in top_statements(source) if imported_names(item.node)
        ]
        own = self._items()
        items = [*tested, *own]  # a test may import what the solution uses
        names = [item.name for item in items if isinstance(item.node, (Function, ast.ClassDef))]
        names += sorted(self._tested_variables() | (loaded_variables(own, data) & self._names_used_by_tests()))
        kept = statements_needed(items, names)
        unused = [item for item in own if imported_names(item.node) and item not in kept]
        imports = [item for item in unused if not missing_packages(item.node, data) and not _imports_figures(item.node)]
        # The numbers of a variable may come from a seed that stands above it.
        seeds = [item for item in own if is_seed_call(item.node)] if self._tested_variables() else []
        chosen = [item for item in items if item in kept or item in imports or item in seeds]
        # A line such as `rows = []` may stand twice, and the second time it undoes what is between.
        again = {item.text for item in chosen if imported_names(item.node)}
        texts = list[str]()
        for item in chosen:
            if item.text not in again or item.text.rstrip("\n") not in texts:
                texts.append(item.text.rstrip("\n"))
        return "\n\n".join(texts) + "\n"

    def _tests_with_earlier_statements(self, known: Collection[str]) -> dict[str, str]:
        """Return the code of each test, preceded by the statements of earlier tests that it needs.

        If the test `q1` has `x = total(y)`, and the test `q2` has `assert x > 0`, that line is put before the code of
        `q2`.

        Args:
            known: the names that cells besides tests bind; for these, nothing is added.

        Returns:
            The code, by the name of the test.
        """
        earlier, whole = list[TopStatement](), dict[str, str]()
        every = [*self._items(), *(item for text in self._all_tests.values() for item in top_statements(text))]
        seeds = Seeds(every)
        for name, source in self._all_tests.items():
            undefined = _names_used(_as_function(name, source)) - set(known)
            needed = statements_needed(earlier, undefined)
            title, rest = _divide_at_docstring(source)
            seeded = seeds.lines_for(ast.parse(source), self._statements_above(name))
            whole[name] = "\n".join([*title, *seeded, *(item.text.rstrip("\n") for item in needed), rest])
            earlier += top_statements(source, with_parameters=False)
        return {name: whole[name] for name in self.tests}

    def _statements_above(self, test: str) -> list[tuple[TopStatement, bool]]:
        """Return the statements above a test, those of earlier tests among them, in the notebook's order.

        What stands in the same cell is not among them, since a hidden part repeats what the shown part of its cell did.
        Each has True if it stands in the code cell directly above the test, or in the same question.
        """
        question = next((each for each in self.all_questions if each is self.questions.get(test)), None)
        tests = [*self._all_tests]
        last = self._cells_before[test]
        above = list[tuple[TopStatement, bool]]()
        for place, cell in enumerate([*self.code[:last], ""]):
            for other in tests[: tests.index(test)]:
                if self._cells_before[other] == place and self._cells[other] != self._cells[test]:
                    above += [(item, False) for item in top_statements(self._all_tests[other])]
            is_near = place == last - 1 or (place < last and self._questions_of_code[place] is question)
            above += [(item, is_near) for item in top_statements(cell)]
        return above

    def test_file(self) -> str:
        """Return a plain pytest file with a function for each test.

        It also has the notebook's variables that these functions use.
        """
        items, used, variables = self._items(), self._names_used_by_tests(), self._tested_variables()
        imports = dict.fromkeys(item.text.rstrip("\n") for item in items if imported_names(item.node))
        whole = self._tests_with_earlier_statements({name for item in items for name in item.binds})
        bodies = [_as_function(name, source) for name, source in whole.items()]
        needed = sorted(({item.name for item in items if item.name} & used) | variables)
        own = [f"from {MODULE} import {', '.join(needed)}"] if needed else []
        plain = [item for item in items if not item.name and not imported_names(item.node)]
        needed_items = statements_needed(plain, used - variables)
        every = [*items, *(item for text in self._all_tests.values() for item in top_statements(text))]
        drawn = Seeds(every).of_given(plain, needed_items, self.solved)
        names = {name for item in drawn for name in (*item.binds, *item.uses)}
        needed_items += statements_needed(plain, names) + drawn
        given = [item.text.rstrip("\n") for item in plain if item in needed_items]
        return "\n".join([*imports, *own, "", *given, "", "", "\n\n\n".join(bodies), ""])


def _imports_figures(node: ast.stmt) -> bool:
    """Return whether a statement only imports from packages that draw figures."""
    modules = [module for module, _ in imported_names(node).values()]
    return bool(modules) and all(module.split(".")[0] in PICTURES for module in modules)


def _needs_at_once(node: ast.stmt, names: Collection[str]) -> bool:
    """Return whether a statement needs one of these names when it runs; a function needs them when it is called."""
    if not isinstance(node, Function):
        return True
    parts = [*node.decorator_list, node.args, *filter(None, [node.returns])]
    return any(isinstance(one, ast.Name) and one.id in names for part in parts for one in ast.walk(part))


def _with_first_line(function: str, line: str) -> str:
    """Return the source of a function with a line at the beginning of its body, below its docstring."""
    (node,) = ast.parse(function).body
    assert isinstance(node, Function)
    if node.body[0].lineno == node.lineno:
        (node,) = ast.parse(function := ast.unparse(node) + "\n").body
        assert isinstance(node, Function)
    edits = Edits(function)
    first = node.body[ast.get_docstring(node) is not None :]
    if first:
        edits.insert_above(first[0], f"{' ' * first[0].col_offset}{line}\n")
    return edits.result()


def python_of_cell(source: str, number: int) -> str:
    """Return the code of a cell as plain Python, without the magics of IPython.

    Args:
        source: the source of the cell.
        number: the number of the cell, which the error names.

    Raises:
        CourseError: it is not Python.
    """
    text = python_of(source).text
    if problem := _syntax_problem(text):
        raise CourseError(f"cell {number} of the notebook is not valid Python ({problem}); fix it there")
    return text


def _syntax_problem(text: str) -> str:
    """Return what is wrong with Python source, and the line; "" if it is valid."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        line = text.splitlines()[(error.lineno or 1) - 1 : error.lineno]
        return f"{error.msg}: {''.join(line).strip()!r}"
    return ""


def number_of(points: object) -> Fraction | None:
    """Return points as a number; None for a value that is not a number.

    "2.5" becomes `Fraction(5, 2)`.
    """
    try:
        return Fraction(str(points)).limit_denominator(100)
    except ValueError:
        return None


def _divide_at_docstring(source: str) -> tuple[list[str], str]:
    """Divide the source of a test into the lines of its docstring and the rest.

    Without a docstring, return [] and the whole source.
    """
    tree = ast.parse(source)
    if ast.get_docstring(tree) is None:
        return [], source
    rows = source.split("\n")
    last = tree.body[0].end_lineno or 0
    return rows[:last], "\n".join(rows[last:])


def _as_function(name: str, source: str) -> str:
    """Return the source of a function with the code of a test."""
    return f"def {name}():\n{textwrap.indent(_indentable_code(source), '    ')}"


def _names_used(text: str) -> set[str]:
    """Return the names that Python source uses and does not define.

    `y = sum(x)` uses `{"sum", "x"}`. Names of builtins are among them, since a student's function may be called `sum`.
    """
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    own = {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
    return undefined_and_defined_names(text)[0] | ({node.id for node in nodes} & {*vars(builtins)} - own)


def _indentable_code(source: str) -> str:
    """Return the code of a test in a form that can be indented.

    Each string of several lines is written in one line.
    """
    tree = ast.parse(source)
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return ast.unparse(tree) if any("\n" in str(node.value) for node in texts) else source.strip("\n")
