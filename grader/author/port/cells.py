"""What a cell of a notebook has for students: code outside of the marks of a solution, and the words of a question."""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Iterator, Sequence

from grader.author.port.text import TopStatement, top_statements
from grader.lint.scope import Function, imported_names

_REGION = re.compile(r"\s*#+ *(BEGIN|END) SOLUTION\b")
_LINE = re.compile(r"[ \t]*# SOLUTION(?: NO PROMPT)?[ \t]*$")
_RAISES = "raise NotImplementedError  # TODO"


class SolutionCell:
    """A cell with a solution, divided by the marks of otter and nbgrader; without marks all of it is the solution.

    Attributes:
        code: the code without marks.
        solved: the names that the solution binds.
        given: the code that students have besides the solution.
        skeletons: functions and classes of which students have a part: their source with TODOs, by name.
    """

    def __init__(self, source: str) -> None:
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
        self.solved, self.skeletons, given = set[str](), dict[str, str](), list[str]()
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
                self.skeletons[item.name] = skeleton
        self.given = "\n".join(given)

    @staticmethod
    def _line_of(lines: Sequence[str], item: TopStatement, first: int) -> int:
        """Return the index of the line at which a statement begins in a cell.

        The search begins at the line with the index `first`.
        """
        text = item.text.rstrip("\n").split("\n")
        return next(row for row in range(first, len(lines)) if [*lines[row : row + len(text)]] == text)


def _skeleton(lines: Sequence[str], marked: Sequence[bool]) -> str:
    """Return a function or class with a TODO in place of each run of solution lines.

    Return "" if students have no part of it: nothing is marked, a marked line is outside of functions, or what is not
    marked is not a function or class.

    Args:
        lines: the lines of the statement.
        marked: a bool for each line; True if the line belongs to the solution.
    """
    rows = list[str]()
    runs = list[int]()
    for line, is_marked, before in zip(lines, marked, [False, *marked], strict=False):
        if not is_marked:
            rows.append(line)
        elif not before:
            runs.append(len(rows) + 1)
            rows.append(f"{line[: len(line) - len(line.lstrip())]}{_RAISES}")
    text = "\n".join(rows) + "\n"
    try:
        (node,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return ""
    functions = [one for one in ast.walk(node) if isinstance(one, Function)]
    inside = {row for one in functions for row in range(one.body[0].lineno, (one.end_lineno or 0) + 1)}
    is_code = isinstance(node, (Function, ast.ClassDef)) and bool(runs) and inside.issuperset(runs)
    return text if is_code else ""


# -- the words of a question -------------------------------------------------------------------------------------------

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<!--.*?-->", re.DOTALL)
_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)[^)]*\)|<img\b[^>]*\bsrc=[\"']([^\"']+)[\"'][^>]*>")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)]|[a-z][.)]) ")
_SCHEME = re.compile(r"^#+ *BEGIN MARK SCHEME.*?^#+ *END MARK SCHEME[^\n]*\n?", re.MULTILINE | re.DOTALL)


def pictures_in(markdown: str) -> list[str]:
    """Return the addresses of the pictures that a cell of Markdown shows."""
    return [found[1] or found[2] for found in _PICTURE.finditer(markdown)]


def question_lines(markdown: str) -> list[str]:
    """Return the words of a question as the lines of a rule.

    Prose is joined into one line. Each item, and each line of a formula, of a table or of code, is a line of its own:
    an item begins with "- ", and the others begin with two blanks. Pictures, headings above other text, and marks of
    emphasis are left out.

    Args:
        markdown: a cell of the question.
    """
    text = _PICTURE.sub("", _SCHEME.sub("", markdown))
    text = html.unescape(_TAG.sub("", re.sub(r"<li>", "- ", text)))
    text = re.sub(r"\*\*|__(?=\S)|(?<=\S)__", "", _LINK.sub(r"\1", text))
    text = re.sub(r"```([^`\n]+)```", r"`\1`", text)
    rows = [row for row in text.split("\n") if row.strip() and not re.fullmatch(r"\s*([-*_]\s*){3,}", row)]
    body = [row for row in rows if not re.match(r"#+ ", row)]
    return list(_paragraphs(body or [row.lstrip("# ") for row in rows]))


def _paragraphs(rows: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a rule, made from the rows of a question.

    Rows of prose are joined. An item, and a row of a formula, a table or code, stays a line of its own.
    """
    prose = list[str]()
    in_code = in_formula = False
    for row in rows:
        is_fence, is_item = row.strip().startswith("```"), _ITEM.match(row)
        turns = row.count("$$") % 2 == 1
        is_apart = in_code or in_formula or turns or row.startswith(("    ", "\t", "|", "$$"))
        in_code, in_formula = in_code != is_fence, in_formula != turns
        if not (is_fence or is_item or is_apart):
            prose.append(row.strip())
            continue
        if prose:
            yield " ".join(prose)
            prose = []
        if not is_fence:
            yield f"- {row[is_item.end() :].strip()}" if is_item and not is_apart else f"  {row.strip()}"
    if prose:
        yield " ".join(prose)
