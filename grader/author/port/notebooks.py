"""A master notebook of otter-grader, or a source notebook of nbgrader, as a solution and a plain pytest file.

Which of the two a notebook is, its own marks say: nbgrader writes them into the metadata of cells, otter into raw cells
that begin with `# BEGIN QUESTION` and the like. Nothing of it is run.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from grader.author.port.cells import SolutionCell, pictures_in, question_lines
from grader.author.port.rewrite import is_seed_call, loaded_variables
from grader.author.port.text import TopStatement, missing_packages, statements_needed, top_statements
from grader.course.answers import undefined_and_defined_names
from grader.course.files import parse_yaml
from grader.intake.cells import python_of
from grader.lint.scope import Function, imported_names, parameters
from grader.model.errors import CourseError
from grader.model.score import pluralize

MODULE = "solution"
"""From which the test file of a notebook imports what students write."""
_PROMPT = re.compile(r'^[ \t]*""" # BEGIN PROMPT\n.*?""";? # END PROMPT[ \t]*\n?', re.MULTILINE | re.DOTALL)
_HIDDEN = re.compile(
    r"^[ \t]*#+ *BEGIN HIDDEN TESTS[ \t]*\n(.*?)^[ \t]*#+ *END HIDDEN TESTS[ \t]*\n?", re.M | re.DOTALL
)
_AUTOTEST = re.compile(r"^[ \t]*#[# \t]*AUTOTEST\b(.*)$", re.MULTILINE)
_CONFIG = re.compile(r'^""" # BEGIN TEST CONFIG\n(.*?)""" # END TEST CONFIG[ \t]*\n?', re.DOTALL)
_HEADING = re.compile(r"\s*#+ ")
_IGNORE = "# IGNORE"
_NUMPY = re.compile(r"(?:np|numpy)\.(?:(True|False)_|(?:float|int|uint|bool|str)\d*_?\((.*)\))", re.DOTALL)
"""A scalar, as NumPy 2 shows it."""
_DEFINED = re.compile(r"""(["'])([A-Za-z_]\w*)\1 in (?:vars|globals|locals|dir)\(\)""")
"""How a test of a notebook asks whether students wrote a variable."""
_SIZE = re.compile(r"torch\.Size\((\[[\d, ]*\])\)")
_MARK = re.compile(r"#?\s*(BEGIN|END) (QUESTION|SOLUTION|PROMPT|TESTS)\b")


@dataclass
class Question:
    """A question of a notebook.

    Attributes:
        name: its name in the notebook; "" if it has none.
        lines: its words, as the lines of a rule; [] if it has none.
        solved: the names that its solution binds.
        points: the points that a person gives; None if tests give them.
    """

    name: str = ""
    lines: list[str] = field(default_factory=list)
    solved: set[str] = field(default_factory=set)
    points: Fraction | None = None


@dataclass
class Assignment:
    """An assignment that was read from a notebook.

    Attributes:
        kind: "otter" or "nbgrader".
        code: the cells besides tests.
        solved: the names that cells of the solution bind.
        skeletons: functions and classes of which students have a part: their source with TODOs, by name.
        tests: the code of each test, by a name that a function can have.
        questions: the question of each test, by the name of the test.
        all_questions: all questions, in the notebook's order.
        by_hand: the questions that a person grades.
        pictures: the addresses of the pictures that questions show.
        points: the points of tests, by name, if the notebook says them; those of a cell or question are divided among
            its tests.
        hidden: the names of the tests that students do not see.
        files: the data files and folders that it lists.
        notes: sentences on what a person has to do, or decide.
        autotests: for each cell with nbgrader's autotests, a sentence on what to do.
    """

    kind: str
    code: list[str] = field(default_factory=list)
    solved: set[str] = field(default_factory=set)
    skeletons: dict[str, str] = field(default_factory=dict)
    tests: dict[str, str] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    by_hand: list[Question] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    points: dict[str, Fraction] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    files: list[str] = field(default_factory=list)
    _given: list[str] = field(default_factory=list)
    _cells_before: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    autotests: list[str] = field(default_factory=list)
    all_questions: list[Question] = field(default_factory=list)
    _question: Question = field(default_factory=Question)

    def begin_question(self, name: str = "", markdown: str = "") -> Question:
        """Begin a question, to which the following cells belong, and return it."""
        self._question = Question(name)
        self.all_questions.append(self._question)
        self.add_words(markdown)
        return self._question

    def add_words(self, markdown: str) -> None:
        """Add a cell of Markdown to the words of the question."""
        self._question.lines += [line for line in question_lines(markdown) if line.strip()]
        self.pictures += pictures_in(markdown)

    def add_code(self, source: str, *, is_solution: bool) -> None:
        """Add a code cell that is not a test.

        If it is part of the solution, the names that it binds are recorded, too.
        """
        cell = SolutionCell(source)
        self.code.append(cell.code)
        if is_solution:
            self.solved |= cell.solved
            self.skeletons |= cell.skeletons
            self._question.solved |= cell.solved
        self._given.append(cell.given if is_solution else cell.code)

    def add_test(self, name: str, source: str, points: Fraction | None = None, *, is_hidden: bool = False) -> str:
        """Add a test under a unique function name, and return that name.

        The function name is made from the test's name in the notebook.

        Args:
            name: the name in the notebook.
            source: its code.
            points: the points of the test, if the notebook says them.
            is_hidden: True if students do not see it.
        """
        plain = re.sub(r"\W", "_", name) or "cell"
        number = 1
        while (key := f"test_{plain}" + (f"_{number}" if number > 1 else "")) in self.tests:
            number += 1
        self.tests[key] = _DEFINED.sub(r"\2 is not None", source)
        self._cells_before[key] = len(self.code)
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

    def given_names(self) -> set[str]:
        """Return the names that are bound only by code which students get as it is."""
        given = {name for item in top_statements(self.given_code(), with_parameters=False) for name in item.binds}
        return given - self.solved

    def by_hand_sentences(self) -> Iterator[str]:
        """Yield a sentence for each question that a person grades.

        If questions show pictures, the last sentence is about the pictures.
        """
        for question in self.by_hand:
            points = float(question.points or 0)
            what = "its rule has `by: staff`" if points else "it has no points, and so no rule"
            yield f"{question.name} ({points:g} points) is graded by a person: {what}"
        if self.pictures:
            shown = ", ".join(dict.fromkeys(self.pictures))
            yield f"questions show pictures ({shown}), which a task cannot: put them on a page, or describe them"

    def later_change_sentences(self) -> Iterator[str]:
        """Yield a sentence for each variable that a test uses and a later cell of the notebook changes."""
        looked: dict[str, list[str]] = {}
        for name, source in self.tests.items():
            later = self.code[self._cells_before[name] :]
            changed = {
                each for cell in later for item in top_statements(cell, with_parameters=False) for each in item.binds
            }
            used = _names_used(_as_function(name, source))
            for each in sorted(used & self._tested_variables() & changed):
                looked.setdefault(each, []).append(name.removeprefix("test_"))
        for each, names in looked.items():
            yield (
                f"a cell below {', '.join(names)} changes `{each}`, and checks see its last value: give the later one "
                "another name, or write a function for each step"
            )

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
        students = self.solved | {item.name for item in items if item.name}
        while more := {name for item in items if item.uses & students for name in item.binds} - students:
            students |= more
        return students & self._names_used_by_tests() & {name for item in items if not item.name for name in item.binds}

    def modules(self, folder: Path) -> list[str]:
        """Return the names of the Python files in a folder that the notebook imports.

        Files that one of these files imports are among them.
        """
        found, texts = dict[str, None](), [item.text for item in self._items() if imported_names(item.node)]
        while texts:
            nodes = [node for node in ast.walk(ast.parse(texts.pop())) if isinstance(node, ast.Import | ast.ImportFrom)]
            names = {f"{root}.py" for node in nodes for root in missing_packages(node)} - found.keys()
            for name in sorted(name for name in names if (folder / name).is_file()):
                found[name] = None
                texts.append((folder / name).read_text(encoding="utf-8"))
        return list(found)

    def reference(self, data: Collection[str] = ()) -> str:
        """Return the source of the reference.

        It has the functions, the classes, the tested variables, and the statements that these need.

        Args:
            data: names of the data files. Variables that are loaded from them and used by tests belong to the
                reference, too.
        """
        tested = [
            item for source in self.tests.values() for item in top_statements(source) if imported_names(item.node)
        ]
        own = self._items()
        items = [*tested, *own]  # a test may import what the solution uses
        names = [item.name for item in items if isinstance(item.node, (Function, ast.ClassDef))]
        names += sorted(self._tested_variables() | (loaded_variables(own, data) & self._names_used_by_tests()))
        kept = statements_needed(items, names)
        unused = [item for item in own if imported_names(item.node) and item not in kept]
        imports = [item for item in unused if not missing_packages(item.node, data)]
        # The numbers of a variable may come from a seed that stands above it.
        seeds = [item for item in own if is_seed_call(item.node)] if self._tested_variables() else []
        chosen = [item for item in items if item in kept or item in imports or item in seeds]
        return "\n\n".join(dict.fromkeys(item.text.rstrip("\n") for item in chosen)) + "\n"

    def _tests_with_earlier_statements(self, known: Collection[str]) -> dict[str, str]:
        """Return the code of each test by name, with what it needs of earlier tests.

        The statements of earlier tests are put before its own.

        Args:
            known: names that other cells bind.
        """
        earlier, whole = list[TopStatement](), dict[str, str]()
        for name, source in self.tests.items():
            undefined = _names_used(_as_function(name, source)) - set(known)
            needed = statements_needed(earlier, undefined)
            whole[name] = "\n".join([*(item.text.rstrip("\n") for item in needed), source])
            earlier += top_statements(source, with_parameters=False)
        return whole

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
        given = [item.text.rstrip("\n") for item in statements_needed(plain, used - variables)]
        return "\n".join([*imports, *own, "", *given, "", "", "\n\n\n".join(bodies), ""])


def assignment_of(text: str) -> Assignment | None:
    """Return the assignment in a notebook; None if the text is not a notebook.

    The notebook is one of otter-grader or nbgrader.

    Args:
        text: the text of the file.

    Raises:
        CourseError: it is a notebook of neither kind, or has no tests.
    """
    try:
        whole = json.loads(text)
        cells = whole["cells"]
        rows = [(cell["cell_type"], "".join(cell["source"]), cell.get("metadata", {}), cell) for cell in cells]
    except (ValueError, TypeError, KeyError):
        return None
    language = str(whole.get("metadata", {}).get("kernelspec", {}).get("language", "python"))
    if language.lower() != "python":
        raise CourseError(f"the notebook is written in {language}: only Python is graded here")
    if any("nbgrader" in metadata for _, _, metadata, _ in rows):
        made = _read_nbgrader(rows)
    elif any(kind != "code" and _otter_mark(source) for kind, source, _, _ in rows):
        made = _read_otter(rows)
    else:
        raise CourseError(
            "the notebook has no marks of nbgrader or otter-grader: take the source notebook of nbgrader, or the "
            "master notebook of otter, and not what students get"
        )
    if not made.tests:
        by_hand = ["a person grades the rest: write an exercise with `by: staff`"] if made.by_hand else []
        raise CourseError(
            "; ".join([f"the notebook of {made.kind} has no cells with tests", *made.autotests, *by_hand])
        )
    made.notes += [*made.by_hand_sentences(), *made.autotests, *made.later_change_sentences()]
    return made


Row = tuple[str, str, Mapping[str, Any], Mapping[str, Any]]


def _read_nbgrader(rows: Sequence[Row]) -> Assignment:
    """Return the assignment in an nbgrader notebook.

    It has the code, the tests, the points, and notes on what a person grades.
    """
    made, words, is_below_code = Assignment("nbgrader"), "", True
    for number, (kind, source, metadata, _) in enumerate(rows, 1):
        marks = metadata.get("nbgrader", {})
        name, points = str(marks.get("grade_id", "")), _number(marks.get("points"))
        graded, solved = marks.get("grade") is True, marks.get("solution") is True
        if (is_task := marks.get("task") is True) or (graded and (solved or kind != "code")):
            question = made.begin_question(name, source if is_task else words)
            question.points = points or Fraction(0)
            made.by_hand.append(question)
        if kind != "code":
            # Of a graded cell it is the answer. A question may have several cells, of which a heading begins the first.
            if kind == "markdown" and not graded and not solved:
                words = source if is_below_code or _HEADING.match(source) else f"{words}\n\n{source}"
                is_below_code = False
            continue
        is_below_code = True
        code = _python_of_cell(source, number)
        if not graded or solved:
            if solved and not graded and words:
                made.begin_question(name, words)
                words = ""
            made.add_code(code, is_solution=solved)
            continue
        if autotests := _AUTOTEST.findall(code):
            lines = f"{pluralize(len(autotests), 'line')} such as AUTOTEST {autotests[0].strip()}"
            made.autotests.append(f"{name} has {lines}: compare each with `reference` in a hidden check")
        shown = _HIDDEN.sub("", code)
        parts = {name: shown, f"{name}_hidden": "\n".join(_HIDDEN.findall(code))}
        parts = {part: textwrap.dedent(test) for part, test in parts.items() if _does_something(test)}
        if len(parts) > 1:
            visible, hidden = parts.values()
            parts[f"{name}_hidden"] = _visible_setup(visible, hidden) + hidden
        for part, test in parts.items():
            own = points / len(parts) if points is not None else None
            made.add_test(part, test, own, is_hidden=part != name)
    return made


def _visible_setup(visible: str, hidden: str) -> str:
    """Return the visible part of a test cell without its asserts and prints.

    Return "" if the hidden part uses no variable of the visible part.
    """
    body = ast.parse(visible).body
    used = {node.id for node in ast.walk(ast.parse(hidden)) if isinstance(node, ast.Name)}
    if not used & {name for item in top_statements(visible, with_parameters=False) for name in item.binds}:
        return ""
    texts = map(ast.unparse, body)
    kept = (text for text in texts if not re.match(r"(assert|([\w.]+\.)?assert_?\w*\(|print\()", text))
    return "".join(f"{text}\n" for text in kept)


def _python_of_cell(source: str, number: int) -> str:
    """Return the code of a cell as plain Python, without the magics of IPython.

    Args:
        source: the source of the cell.
        number: the number of the cell, which the error names.

    Raises:
        CourseError: it is not Python.
    """
    text = python_of(source).text
    try:
        ast.parse(text)
    except SyntaxError as error:
        line = text.splitlines()[(error.lineno or 1) - 1 : error.lineno]
        raise CourseError(
            f"cell {number} of the notebook is not valid Python ({error.msg}: {''.join(line).strip()!r}); fix it there"
        ) from None
    return text


def _read_otter(rows: Sequence[Row]) -> Assignment:
    """Return the assignment in an Otter notebook.

    It has the code, the tests, the points, and notes on what a person grades.
    """
    reader = _OtterReader()
    for number, (kind, source, _, cell) in enumerate(rows, 1):
        if kind == "code":
            reader.read_code(_python_of_cell(source, number), cell)
        else:
            reader.read_text(source, is_markdown=kind == "markdown")
    return reader.made


class _OtterReader:
    """Reads the cells of a notebook of otter-grader one by one.

    Attributes:
        made: the assignment.
    """

    def __init__(self) -> None:
        self.made = Assignment("otter")
        self._part = ""  # which marks the next cells stand between; "QUESTION" for the words of a question
        self._settings = dict[str, Any]()
        self._question = Question()
        self._own = dict[str, Fraction | None]()  # of the tests of the question
        self._above = ""

    def read_text(self, source: str, *, is_markdown: bool) -> None:
        """Record a cell that is not code: a mark with settings, the words of a question, or files.

        A mark begins or ends a part of the notebook. The files are those of otter's configuration.
        """
        self.made.files += _files_listed(source)
        match _otter_mark(source):
            case None if is_markdown and self._part == "QUESTION":
                self.made.add_words(source)
            case None if is_markdown and not self._settings:
                self._above = source
            case "BEGIN", "QUESTION":
                self._settings, self._part = _settings_in(source), "QUESTION"
                self._question = self.made.begin_question(str(self._settings.get("name", "")))
                if self._settings.get("manual"):
                    self._question.points = _number(self._settings.get("points", 1)) or Fraction(0)
                    self.made.by_hand.append(self._question)
            case "END", "QUESTION":
                if not self._question.lines:
                    self.made.add_words(self._above)
                self.made.points |= _points_of_tests(self._settings, self._own)
                self._settings, self._own, self._part, self._above = {}, {}, "", ""
                self.made.begin_question()
            case mark, part:
                self._part = part if mark == "BEGIN" else ""

    def read_code(self, code: str, cell: Mapping[str, Any]) -> None:
        """Add a cell of code to the assignment, as a test or as other code.

        The part of the notebook in which it stands decides that. A cell in a part PROMPT is left out.
        """
        if self._part == "TESTS":
            test, points, is_hidden = _parse_otter_test(code, cell)
            name = self.made.add_test(str(self._settings.get("name", "cell")), test, is_hidden=is_hidden)
            self._own[name] = points
        elif self._part != "PROMPT":
            self.made.add_code(_PROMPT.sub("", code), is_solution=self._part == "SOLUTION")
            self._part = self._part if self._part == "SOLUTION" else ""


def _points_of_tests(question: Mapping[str, Any], own: Mapping[str, Fraction | None]) -> dict[str, Fraction]:
    """Return the points of each test of a question by name, as otter divides them.

    A question without points has one point, which is divided among its tests. If some of its tests have points, then
    the others have none.

    Args:
        question: the settings of the question.
        own: the points in the settings of each test itself, by its name; None where they have none.
    """
    points = question.get("points")
    if isinstance(points, list) and len(points) == len(own):
        return {name: _number(each) or Fraction(0) for name, each in zip(own, points, strict=True)}
    specified = sum((each for each in own.values() if each is not None), Fraction(0))
    open_ones = [name for name, each in own.items() if each is None]
    each_one = _number(points.get("each")) if isinstance(points, dict) else None
    whole = each_one * len(own) if each_one is not None else _number(points)
    if whole is None:
        whole = specified or Fraction(1)
    each_open = max(Fraction(0), whole - specified) / max(1, len(open_ones))
    return {name: each_open if each is None else each for name, each in own.items()}


def _parse_otter_test(code: str, cell: Mapping[str, Any]) -> tuple[str, Fraction | None, bool]:
    """Return the code of a test cell of otter-grader, its points, and whether it is hidden.

    The points are None if the settings of the cell have none.
    """
    config = _CONFIG.match(code)
    settings = _settings_in(f"\n{config[1]}") if config else {}
    is_hidden = bool(settings.get("hidden")) or code.startswith("# HIDDEN")
    code = code[config.end() :] if config else re.sub(r"^# HIDDEN[^\n]*\n", "", code)
    tree = ast.parse(code)
    if _ends_with_call_of_other_function(tree.body) and code.rstrip().endswith(
        _IGNORE
    ):  # the notebook alone runs this line
        del tree.body[-1]
    match tree.body:
        # A test by exceptions: a function whose parameters are names of the notebook, which otter calls itself. Some
        # notebooks call it, too.
        case [*before, ast.FunctionDef() as last]:
            code = "\n".join(ast.unparse(statement) for statement in (*before, *last.body))
        case [*before, ast.FunctionDef(name=name) as last, ast.Expr(ast.Call(func=ast.Name(id=called), args=args))] if (
            name == called and _output_of(cell) is None  # with a value it is a test of that value
        ):
            own = [f"{one} = {ast.unparse(arg)}" for one, arg in zip(parameters(last), args, strict=False)]
            given = [line for line in own if len(set(line.split(" = "))) > 1]
            code = "\n".join([*map(ast.unparse, before), *given, *map(ast.unparse, last.body)])
        case [*before, ast.Expr(value=value)] if (shown := _output_of(cell)) is not None:
            head = [ast.unparse(statement) for statement in before]
            code = "\n".join([*head, _equality_assert(ast.unparse(value), shown)])
    return code, _number(settings.get("points")), is_hidden


def _ends_with_call_of_other_function(body: Sequence[ast.stmt]) -> bool:
    """Return whether a cell ends with the definition of a function and a call of some other function."""
    match body:
        case [*_, ast.FunctionDef(name=name), ast.Expr(ast.Call(func=ast.Name(id=called)))]:
            return name != called
    return False


def _number(points: object) -> Fraction | None:
    """Return points as a number; None for anything that is not a number."""
    try:
        return Fraction(str(points)).limit_denominator(100)
    except ValueError:
        return None


def _equality_assert(expression: str, shown: str) -> str:
    """Return the source of an assert that an expression has the value that the notebook shows."""
    if scalar := _NUMPY.fullmatch(shown.strip()):
        shown = scalar[1] or scalar[2]
    if shown == "True":
        return f"assert {expression}"
    if size := _SIZE.fullmatch(shown.strip()):
        return f"assert tuple({expression}) == {tuple(ast.literal_eval(size[1]))}"
    try:
        value = ast.literal_eval(shown)
    except (ValueError, SyntaxError):
        first = " ".join(shown.strip().splitlines()[0].split())
        todo = f"# TODO: compare values, and not what the notebook shows: {first}"
        # An object without a text of its own is shown by its address.
        return f"{todo}\n{expression}" if shown.startswith("<") else f"{todo}\nassert repr({expression}) == {shown!r}"
    return f"assert {expression} == {value!r}"


def _output_of(cell: Mapping[str, Any]) -> str | None:
    """Return the value that a cell of code shows as its result; None if it shows no value."""
    for output in cell.get("outputs", ()):
        text = output.get("data", {}).get("text/plain")
        if output.get("output_type") == "execute_result" and text is not None:
            return "".join(text)
    return None


def _otter_mark(source: str) -> tuple[str, str] | None:
    """Return the otter-grader mark of a cell, such as ("BEGIN", "TESTS"); None if it has none."""
    lines = [line for line in source.replace("```", "").splitlines() if line.strip()]
    found = _MARK.match(lines[0].strip()) if lines else None
    return (found[1], found[2]) if found else None


def _settings_in(source: str) -> dict[str, Any]:
    """Return the settings that a cell of otter-grader has as YAML; {} if it has none.

    Lines with a mark, such as BEGIN TESTS, are left out.
    """
    lines = [line for line in source.replace("```", "").splitlines() if line.strip()]
    settings = [line.removeprefix("# ") for line in lines if not _MARK.match(line.strip())]
    read = parse_yaml("\n".join(settings).encode(), "")
    return read if isinstance(read, dict) else {}


def _files_listed(source: str) -> list[str]:
    """Return the files and folders that otter's configuration lists in a cell; else []."""
    first, _, rest = source.replace("```", "").strip().partition("\n")
    if first.lstrip("# ").strip() != "ASSIGNMENT CONFIG":
        return []
    files = _settings_in(f"\n{rest}").get("files")
    return [name for name in files if isinstance(name, str)] if isinstance(files, list) else []


def _does_something(source: str) -> bool:
    """Return whether a text contains a statement, and not only comments."""
    return bool(ast.parse(textwrap.dedent(source)).body)


def _as_function(name: str, source: str) -> str:
    """Return the source of a function with the code of a test."""
    return f"def {name}():\n{textwrap.indent(_indentable_code(source), '    ')}"


def _names_used(text: str) -> set[str]:
    """Return the names that Python source uses and does not define.

    Names of builtins are among them, since a student's function may be called `sum`.
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
