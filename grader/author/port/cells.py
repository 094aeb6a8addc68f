"""What a cell of a notebook has for students: code outside of the marks of a solution, and the words of a question."""

from __future__ import annotations

import ast
import html
import itertools
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grader.author.port.text import TopStatement, one_statement_per_line, top_statements
from grader.lint.scope import Function, imported_names

_REGION = re.compile(r"\s*#+ *(BEGIN|END) SOLUTION\b")
_LINE = re.compile(r"[ \t]*# SOLUTION(?: NO PROMPT)?[ \t]*$")
Row = tuple[str, str, Mapping[str, Any], Mapping[str, Any]]
"""A cell: its kind, its source, its metadata, and the whole cell."""
RAISES_TODO = "raise NotImplementedError  # TODO"
"""The line that stands in a starter in place of a solution."""


class SolutionCell:
    """A cell with a solution, divided into what students write and what they get.

    A line belongs to the solution if it stands between `# BEGIN SOLUTION` and `# END SOLUTION`, or ends with
    `# SOLUTION`. Without such marks of otter and nbgrader, all of the cell is the solution.

    Attributes:
        code: the code without marks.
        solved: the names that the solution binds.
        given: the code that students have besides the solution.
        skeletons: functions and classes of which students have a part: their source with TODOs, by name.
        loops: loops and the like outside of functions of which students have a part: their source with TODOs.
    """

    def __init__(self, source: str) -> None:
        source = one_statement_per_line(source)
        lines, marked = [], []
        inside = False
        for line in source.split("\n"):
            if region := _REGION.match(line):
                inside = region[1] == "BEGIN"
                continue
            bare = _LINE.sub("", line)
            lines.append(bare)
            marked.append(inside or bare != line)
        self.code = "\n".join(lines)
        self.solved, self.skeletons, self.loops = set[str](), dict[str, str](), list[str]()
        given = list[str]()
        first = 0
        for item in top_statements(self.code):
            # The comments above a statement belong to it.
            first = self._line_of(lines, item, first)
            rows = range(first, first + item.text.count("\n"))
            first = rows.stop
            own = [marked[row] for row in rows if lines[row].strip() and not lines[row].startswith("#")]
            if any(marked) and not any(own):
                given.append(item.text)
                continue
            self.solved |= item.binds - imported_names(item.node).keys()
            if skeleton := _skeleton([lines[row] for row in rows], [marked[row] for row in rows]):
                if item.name:
                    self.skeletons[item.name] = skeleton
                else:
                    self.loops.append(skeleton)
        self.given = "\n".join(given)

    @staticmethod
    def _line_of(lines: Sequence[str], item: TopStatement, first: int) -> int:
        """Return the index of the line at which a statement begins in a cell.

        The search begins at the line with the index `first`.
        """
        text = item.text.rstrip("\n").split("\n")
        return next(row for row in range(first, len(lines)) if [*lines[row : row + len(text)]] == text)


_COMPOUND = (ast.For, ast.While, ast.If, ast.With, ast.Try)


def _skeleton(lines: Sequence[str], marked: Sequence[bool]) -> str:
    """Return a function, class or loop with a TODO in place of each run of solution lines.

    Of a function whose only line outside of the solution is `def f(x):`, this is:

        def f(x):
            raise NotImplementedError  # TODO

    Return "" if students have no part of it: nothing is marked, a marked line is outside of blocks, or what is not
    marked is another statement.

    Args:
        lines: the lines of the statement.
        marked: a bool for each line; True if the line belongs to the solution.
    """
    is_function = re.match(r"(@|(async )?def |class )", next(line for line in lines if line[:1] not in ("#", "")))
    instead = RAISES_TODO if is_function else "pass  # TODO"
    rows = list[str]()
    runs = list[int]()
    for line, is_marked, before in zip(lines, marked, [False, *marked], strict=False):
        if not is_marked:
            rows.append(line)
        elif not before:
            runs.append(len(rows) + 1)
            rows.append(f"{line[: len(line) - len(line.lstrip())]}{instead}")
    text = "\n".join(rows) + "\n"
    try:
        (node,) = ast.parse(text).body
    except (SyntaxError, ValueError):  # what is left is not one statement, so students get a stub
        return ""
    blocks = [one for one in ast.walk(node) if isinstance(one, Function if is_function else _COMPOUND)]
    inside = {row for one in blocks for row in range(one.body[0].lineno, (one.end_lineno or 0) + 1)}
    is_code = isinstance(node, (Function, ast.ClassDef, *_COMPOUND)) and bool(runs) and inside.issuperset(runs)
    return text if is_code else ""


def without_marks(source: str) -> str:
    """Return a cell without the marks of a solution, such as a line `# BEGIN SOLUTION`.

    `x = 1  # SOLUTION` becomes `x = 1`.
    """
    return "\n".join(_LINE.sub("", line) for line in source.split("\n") if not _REGION.match(line)).strip()


# -- the words of a question -------------------------------------------------------------------------------------------

_CODE = "code"
_FENCE = r"^[ \t]*(?:`{3,}|~{3,})"
_FENCED = re.compile(rf"{_FENCE}[^`\n]*\n(.*?){_FENCE}[ \t]*$", re.MULTILINE | re.DOTALL)
_DIRECTIVE = re.compile(rf"{_FENCE}\{{(?!code)[^`\n]*\n(.*?){_FENCE}[ \t]*$", re.MULTILINE | re.DOTALL)
"""Such as a hint of MyST, whose words stand between fences, too."""
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<!--.*?-->", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)[^)]*\)|<img\b[^>]*\bsrc=[\"']([^\"']+)[\"'][^>]*>")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_ITEM = re.compile(r"\s*(?:[-*+]|(\d+)[.)]|([a-z])[.)]) ")
_LIST = re.compile(r"<ol[^>]*>(.*?)</ol>", re.DOTALL)
_HEADING = re.compile(r"\s{0,3}#+ +(.*?)[ #]*$")
_POINTS = re.compile(r"\W*\d+(\.\d+)? *(points?|pts?|marks?)\b\W*$", re.IGNORECASE)
_SCHEME = re.compile(r"^#+ *BEGIN MARK SCHEME[^\n]*\n?(.*?)^#+ *END MARK SCHEME[^\n]*\n?", re.MULTILINE | re.DOTALL)
_POINTS_FIRST = re.compile(r"^\W*\d+(\.\d+)? *(points?|pts?|marks?|p)\) *", re.IGNORECASE)
LONGEST_HEADING = 60
"""Letters of a heading that can be the title of a check."""


def mark_scheme(markdown: str) -> str:
    """Return what a cell of a task says only to those who grade it.

    It is the text between `# BEGIN MARK SCHEME` and `# END MARK SCHEME`; "" without these.
    """
    return "\n".join(found.strip() for found in _SCHEME.findall(markdown))


def pictures_in(markdown: str) -> list[str]:
    """Return the addresses of the pictures that a cell of Markdown shows."""
    return [found[1] or found[2] for found in _PICTURE.finditer(markdown)]


def heading_of(markdown: str) -> str:
    """Return the first heading in a cell of Markdown, as a title.

    `## Question 2: the **mean** (3 points)` becomes "Question 2: the mean". Return "" if the cell has no heading, or
    one that is too long for a title.
    """
    rows = markdown.split("\n")
    heading = next((found[1] for row in _heading_rows(rows) if (found := _HEADING.match(rows[row]))), "")
    (text,) = [*question_lines(heading)][:1] or [""]
    text = _POINTS_FIRST.sub("", text)
    text = _POINTS.sub("", re.sub(r"\*(?=\S)([^*]+)\*", r"\1", text)).strip("*_:. ")
    return text if len(text) <= LONGEST_HEADING else ""


def divide_at_headings(markdown: str) -> list[str]:
    """Return the parts of a cell of Markdown, each of which but the first begins with a heading."""
    rows = markdown.split("\n")
    starts = [0, *(row for row in _heading_rows(rows) if row), len(rows)]
    return ["\n".join(rows[first:last]) for first, last in itertools.pairwise(starts)]


def has_heading(markdown: str) -> bool:
    """Return whether a cell of Markdown has a heading."""
    return any(True for _ in _heading_rows(markdown.split("\n")))


def has_body(markdown: str) -> bool:
    """Return whether a cell of Markdown has words besides headings and pictures."""
    rows = _PICTURE.sub("", _TAG.sub("", markdown)).split("\n")
    headings = {*_heading_rows(rows)}
    return any(row.strip() for number, row in enumerate(rows) if number not in headings)


def _heading_rows(rows: Sequence[str]) -> Iterator[int]:
    """Yield the index of each row of Markdown that is a heading. Comments in blocks of code do not count."""
    in_code = False
    for number, row in enumerate(rows):
        in_code ^= row.strip().startswith("```")
        if not in_code and _HEADING.match(row):
            yield number


def question_lines(markdown: str) -> list[str]:
    """Return the words of a question as the lines of a rule.

    The rows `## Mean`, `Return the **mean**`, `of x.` and `* not the sum` become two lines, "Return the mean of x." and
    "- not the sum". Prose is joined into one line, and each item is a line of its own. So is each line of a formula, of
    a table or of code, which begins with two blanks. Code keeps its layout. Pictures, headings above other text, and
    marks of emphasis are left out.

    Args:
        markdown: a cell of the question.
    """
    text = _PICTURE.sub("", _SCHEME.sub("", markdown))
    text = re.sub(r"<li>", "- ", _LIST.sub(_number_items, text))
    # Between the fences of a block of code, each row is code.
    blocks = _FENCED.split(_DIRECTIVE.sub(r"\1", text))
    rows = list[tuple[str, str]]()
    for number, block in enumerate(blocks):
        if number % 2:
            rows += [(_CODE, row) for row in textwrap.dedent(block).split("\n") if row.strip()]
        else:
            rows += [("", row) for row in _without_markup(block).split("\n") if row.strip()]
    rows = [(kind, row) for kind, row in rows if kind or not re.fullmatch(r"\s*([-*_]\s*){3,}", row)]
    is_heading = [not kind and _HEADING.match(row) for kind, row in rows]
    body = [each for each, heads in zip(rows, is_heading, strict=True) if not heads]
    # Without other words, the heading says what to do; its points stand elsewhere.
    return list(_paragraphs(body or [(kind, _POINTS.sub("", row.lstrip("# "))) for kind, row in rows]))


def _without_markup(markdown: str) -> str:
    """Return a text of Markdown without tags, links and marks of emphasis; code between backticks stays as it is."""
    parts = re.split(r"(`[^`\n]+`)", re.sub(r"```([^`\n]+)```", r"`\1`", _COMMENT.sub("", markdown)))
    for number, part in enumerate(parts):
        if number % 2 == 0:
            plain = html.unescape(_TAG.sub("", _LINK.sub(r"\1", part)))
            parts[number] = re.sub(r"\*\*|__(?=\S)|(?<=\S)__", "", plain)
    return "".join(parts)


def _number_items(found: re.Match[str]) -> str:
    """Return the items of a numbered list of HTML as those of Markdown."""
    first, *items = re.split(r"<li[^>]*>", found[1])
    return "\n".join([first, *(f"{number}. {item.strip()}" for number, item in enumerate(items, 1))])


def _paragraphs(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines of a rule: the rows of a question, with its prose joined.

    The rows "Return the mean", "of x." and "* not the sum" become "Return the mean of x." and "- not the sum". A row of
    a formula, a table or code stays a line, too.

    Args:
        rows: the rows, each with its kind: `_CODE`, or "".
    """
    prose, numbers = list[str](), dict[int, int]()
    in_formula = False
    for kind, row in rows:
        is_item, turns = None if kind else _ITEM.match(row), not kind and row.count("$$") % 2 == 1
        is_apart = bool(kind) or in_formula or turns or row.startswith(("    ", "\t", "|", "$$"))
        in_formula = in_formula != turns
        if not (is_item or is_apart):
            prose.append(row.strip())
            numbers = numbers if row.startswith(" ") else {}
            continue
        if prose:
            yield " ".join(prose)
            prose = []
        if is_item and not is_apart:
            column = len(row) - len(row.lstrip())
            numbers = {at: number for at, number in numbers.items() if at <= column}
            if is_item[1]:  # in Markdown, a list counts from its first number
                numbers[column] = numbers[column] + 1 if column in numbers else int(is_item[1])
            mark = f"{numbers[column]}." if is_item[1] else f"- {is_item[2]})" if is_item[2] else "-"
            yield f"{mark} {row[is_item.end() :].strip()}"
        else:
            is_code = bool(kind) or (row.startswith("    ") and not in_formula)
            yield f"  {(row if kind else row[4:]).rstrip() if is_code else row.strip()}"
    if prose:
        yield " ".join(prose)
