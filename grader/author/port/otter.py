"""A master notebook of otter-grader, which has its marks in raw cells such as `# BEGIN QUESTION`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from grader.author.port.assignment import Assignment, Question, number_of, python_of_cell
from grader.author.port.cells import Row, without_marks
from grader.course.files import parse_yaml
from grader.lint.scope import parameters

_PROMPT = re.compile(r'^[ \t]*""" # BEGIN PROMPT\n.*?""";? # END PROMPT[ \t]*\n?', re.MULTILINE | re.DOTALL)
_CONFIG = re.compile(r'^""" # BEGIN TEST CONFIG\n(.*?)""" # END TEST CONFIG[ \t]*\n?', re.DOTALL)
_IGNORE = "# IGNORE"
_IGNORED = re.compile(
    r"^[ \t]*# BEGIN IGNORE[^\n]*\n.*?^[ \t]*# END IGNORE[^\n]*(\n|\Z)|^[^\n]*# IGNORE[ \t]*(\n|\Z)", re.M | re.DOTALL
)
"""What the notebook alone runs."""
_NUMPY = re.compile(r"(?:np|numpy)\.(?:(True|False)_|(?:float|int|uint|bool|str)\d*_?\((.*)\))", re.DOTALL)
"""A scalar, as NumPy 2 shows it."""
_SIZE = re.compile(r"torch\.Size\((\[[\d, ]*\])\)")
_CONDITIONS = {
    "isinstance",
    "hasattr",
    "callable",
    "all",
    "any",
    "isclose",
    "allclose",
    "array_equal",
    "equal",
    "equals",
}
"""Functions that return whether something is so."""
_MARK = re.compile(r"#?\s*(BEGIN|END) (QUESTION|SOLUTION|PROMPT|TESTS)\b")


def read_otter(rows: Sequence[Row]) -> Assignment:
    """Return the assignment in an Otter notebook.

    It has the code, the tests, the points, and notes on what a person grades.
    """
    reader = _OtterReader()
    for number, (kind, source, metadata, cell) in enumerate(rows, 1):
        if kind == "code":
            reader.read_code(source, number, cell)
        else:
            is_included = "otter_include" in metadata.get("tags", ())
            reader.read_text(source, number, is_markdown=kind == "markdown", is_included=is_included)
    reader.made.leave_out_words_between()
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

    def read_text(self, source: str, number: int, *, is_markdown: bool, is_included: bool) -> None:
        """Record a cell that is not code: a mark with settings, the words of a question, or files.

        A mark begins or ends a part of the notebook. The files are those of otter's configuration.

        Args:
            source: the source of the cell.
            number: its number in the notebook.
            is_markdown: True if it is Markdown.
            is_included: True if students get the cell although it stands in a solution.
        """
        match otter_mark(source):
            case None if _is_configuration(source):
                self.made.files += _files_listed(source)
                self.made.notes += _configuration_sentences(source)
            # Students read what stands between the parts of a question, too.
            case None if is_markdown and (
                self._part == "QUESTION" or (self._settings and (is_included or not self._part))
            ):
                self.made.add_words(source)
            case None if is_markdown and self._part == "SOLUTION" and self._settings.get("manual"):
                self._add_model_answer(source)
            case None if is_markdown and not self._settings:
                self.made.add_words_between(source, number)
            case "BEGIN", "QUESTION":
                self._settings, self._part = _settings_in(source), "QUESTION"
                self._question = self.made.begin_question(str(self._settings.get("name", "")))
                if self._settings.get("manual"):
                    self._question.points = number_of(self._settings.get("points", 1)) or Fraction(0)
                    self.made.by_hand.append(self._question)
            case "END", "QUESTION":
                self.made.points |= _points_of_tests(self._settings, self._own)
                self._settings, self._own, self._part = {}, {}, ""
                self.made.end_question()
            case mark, part:
                self._part = part if mark == "BEGIN" else ""

    def read_code(self, source: str, number: int, cell: Mapping[str, Any]) -> None:
        """Add a cell of code to the assignment, as a test or as other code.

        The part of the notebook in which it stands decides that. A cell in a part PROMPT is left out.

        Args:
            source: the source of the cell.
            number: its number in the notebook.
            cell: the whole cell.
        """
        if self._part == "PROMPT":
            return
        if not self._part and not self._settings:
            self.made.add_given_cell(_IGNORED.sub("", _PROMPT.sub("", source)), number)
            return
        code = python_of_cell(source, number)
        if self._part == "TESTS":
            test = _parse_otter_test(code, cell)
            name = self.made.add_test(str(self._settings.get("name", "cell")), test.code, is_hidden=test.is_hidden)
            self._own[name] = test.points
            self.made.notes += (
                f"the {key} of {name.removeprefix('test_')} is {message!r}: no check says it, and a hint can"
                for key, message in test.messages.items()
            )
            self.made.guessed |= {name} if test.is_guessed else set()
            self.made.not_shown |= {name} if test.is_open else set()
            return
        code = _IGNORED.sub("", _PROMPT.sub("", code))
        if self._part == "SOLUTION" and self._settings.get("manual"):
            self._add_model_answer(code)
        self.made.add_code(code, is_solution=self._part == "SOLUTION")
        self._part = self._part if self._part == "SOLUTION" else ""

    def _add_model_answer(self, source: str) -> None:
        self._question.answer = "\n\n".join(filter(None, [self._question.answer, without_marks(source)]))


def _is_condition(node: ast.expr) -> bool:
    """Return whether an expression is certainly True or False, such as `x == 2`, `a and b`, or `isinstance(x, int)`."""
    match node:
        case ast.BoolOp(values=values):
            return all(map(_is_condition, values))
        case ast.Call(func=function):
            return ast.unparse(function).rpartition(".")[2] in _CONDITIONS
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


def _does_by_itself(node: ast.expr) -> bool:
    """Return whether an expression may show no value: the call of a function, which may assert, or a text."""
    return isinstance(node, ast.Call) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _points_of_tests(question: Mapping[str, Any], own: Mapping[str, Fraction | None]) -> dict[str, Fraction]:
    """Return the points of each test of a question by name, as otter divides them.

    If a question has 3 points, and the test `b` has 1 of its own, then the test `a` has the other 2. A question without
    points has one point, which is divided among its tests. If some of its tests have points, then the others have none.

    Args:
        question: the settings of the question.
        own: the points in the settings of each test itself, by its name; None where they have none.
    """
    points = question.get("points")
    if isinstance(points, list) and len(points) == len(own):
        return {name: number_of(each) or Fraction(0) for name, each in zip(own, points, strict=True)}
    specified = sum((each for each in own.values() if each is not None), Fraction(0))
    open_ones = [name for name, each in own.items() if each is None]
    each_one = number_of(points.get("each")) if isinstance(points, dict) else None
    whole = each_one * len(own) if each_one is not None else number_of(points)
    if whole is None:
        whole = specified or Fraction(1)
    each_open = max(Fraction(0), whole - specified) / max(1, len(open_ones))
    return {name: each_open if each is None else each for name, each in own.items()}


@dataclass(frozen=True)
class _Test:
    """A test of otter-grader.

    Attributes:
        code: its code, as that of a function.
        points: its points; None if the settings of its cell have none.
        is_hidden: True if students do not see it.
        is_guessed: True if it asserts a condition whose value the notebook does not show.
        is_open: True if it compares with a value that the notebook does not show.
        messages: what students read where it passes or fails, by the names of otter's settings.
    """

    code: str
    points: Fraction | None
    is_hidden: bool
    is_guessed: bool = False
    is_open: bool = False
    messages: Mapping[str, str] = field(default_factory=dict)


def _parse_otter_test(code: str, cell: Mapping[str, Any]) -> _Test:
    """Return the test in a cell of otter-grader.

    A cell with `# HIDDEN` above `double(2)`, which shows 4, becomes a hidden test `assert double(2) == 4`.
    """
    config = _CONFIG.match(code)
    settings = _settings_in(f"\n{config[1]}") if config else {}
    is_hidden = bool(settings.get("hidden")) or code.startswith("# HIDDEN")
    code = code[config.end() :] if config else re.sub(r"^# HIDDEN[^\n]*\n", "", code)
    is_guessed = is_open = False
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
        case [*before, ast.Expr(value=value)] if _is_condition(value):
            code = "\n".join([*map(ast.unparse, before), f"assert {ast.unparse(value)}"])
            is_guessed = True
        case [*_, ast.Expr(value=value)]:
            is_open = not _does_by_itself(value)
    messages = {key: str(settings[key]) for key in ("failure_message", "success_message") if settings.get(key)}
    return _Test(code, number_of(settings.get("points")), is_hidden, is_guessed, is_open, messages)


def _ends_with_call_of_other_function(body: Sequence[ast.stmt]) -> bool:
    """Return whether a cell ends with the definition of a function and a call of some other function."""
    match body:
        case [*_, ast.FunctionDef(name=name), ast.Expr(ast.Call(func=ast.Name(id=called)))]:
            return name != called
    return False


def _equality_assert(expression: str, shown: str) -> str:
    """Return the source of an assert that an expression has the value that the notebook shows.

    `double(2)`, shown as "4", becomes `assert double(2) == 4`. `x.shape`, shown as "torch.Size([2, 3])", becomes
    `assert tuple(x.shape) == (2, 3)`.
    """
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


def otter_mark(source: str) -> tuple[str, str] | None:
    """Return the otter-grader mark of a cell, such as ("BEGIN", "TESTS"); None if it has none."""
    lines = [line for line in source.replace("```", "").splitlines() if line.strip()]
    found = _MARK.match(lines[0].strip()) if lines else None
    return (found[1], found[2]) if found else None


def _settings_in(source: str) -> dict[str, Any]:
    """Return the settings that a cell of otter-grader has as YAML; {} if it has none.

    The rows `# BEGIN QUESTION`, `name: q1` and `points: 2` become `{"name": "q1", "points": 2}`. Lines with a mark are
    left out.
    """
    lines = [line for line in source.replace("```", "").splitlines() if line.strip()]
    settings = [line.removeprefix("# ") for line in lines if not _MARK.match(line.strip())]
    read = parse_yaml("\n".join(settings).encode(), "")
    return read if isinstance(read, dict) else {}


def _is_configuration(source: str) -> bool:
    """Return whether a cell has the configuration of otter."""
    first, _, _ = source.replace("```", "").strip().partition("\n")
    return first.lstrip("# ").strip() == "ASSIGNMENT CONFIG"


def _configuration_in(source: str) -> dict[str, Any]:
    """Return the settings in a cell with otter's configuration."""
    _, _, rest = source.replace("```", "").strip().partition("\n")
    return _settings_in(f"\n{rest}")


def _configuration_sentences(source: str) -> Iterator[str]:
    """Yield sentences on what a cell with otter's configuration has and a draft does not: a seed, another file."""
    settings = _configuration_in(source)
    if file := settings.get("config_file"):
        yield f"otter reads settings from {file}, and a draft does not: its `files:` belong into exercise.yaml"
    places = [settings, *(settings.get(key) for key in ("seed", "generate"))]
    seed = next((one["seed"] for one in places if isinstance(one, dict) and isinstance(one.get("seed"), int)), None)
    if seed is not None:
        yield (
            f"otter sets the seed {seed} before each cell, and nothing does so here: where student code draws, call it "
            f"by `call_seeded({seed}, student.f, x)`; where numbers come from this seed, compare with `reference`"
        )


def _files_listed(source: str) -> list[str]:
    """Return the files and folders that a cell with otter's configuration lists."""
    settings = _configuration_in(source)
    lists = [settings.get(key) for key in ("files", "student_files")]
    names = (name for files in lists if isinstance(files, list) for name in files)
    return [name for name in names if isinstance(name, str)]
