"""Lines to try beside an exercise: those of its failing checks, and any that the student types. A worker runs them."""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable
from functools import partial

from nicegui import ui

from grader.drawing.evaluated import parse_lines
from grader.model import Exercise, GradedCheck, GradedExercise
from grader.model.errors import GraderError
from grader.model.score import Causes
from grader.report.safe import for_html
from grader.student.lines_to_try import lines_of, with_printed_expressions
from grader.web import look
from grader.web.live import LiveGrading
from grader.web.task import preformatted_html

_MOST_CHECKS = 3


class TryIt:
    """A box of lines of Python with buttons that run and draw them.

    Args:
        live: the grading, whose workers run the lines.
        exercise: the exercise whose file they may import.
        draw: a function that draws the tensors of lines, in the panel below; None if there is no panel.
    """

    def __init__(self, live: LiveGrading, exercise: Exercise, draw: Callable[[str], Awaitable[None]] | None) -> None:
        self._live, self._exercise, self._draw = live, exercise, draw
        self._check = ""
        head = [] if "torch" in exercise.without else ["import torch"]
        self._filled = "\n".join([*head, f"from {exercise.id} import *", ""])
        look.heading("Try it")
        self._choices = ui.element("div").classes("in-line")
        with ui.element("label").classes("for"):
            look.html("Any lines of Python; the value of an expression is printed. Ctrl-Enter runs them.", "span")
            self._lines = look.code_area(self._filled, "Lines to try")
        with ui.element("div").classes("in-line").style("margin-top:.5rem"):
            look.button("Run these lines", self._run)
            if draw is not None:
                look.button("Draw the memory", self._draw_memory)
        self._shown = look.html("").props('aria-live="polite"')
        self._lines.on("keydown.ctrl.enter", self._run)

    def offer(self, graded: GradedExercise) -> None:
        """Show buttons for the first few failing checks, each of which runs the check's lines.

        These are the lines to try in the check's message. If the student has typed nothing into the box, the lines of
        the first check fill it.
        """
        rows = Causes.of(graded.checks)
        offers: dict[str, GradedCheck] = {}
        for row in filter(None, (rows.cause, *rows.same, *rows.lost)):
            if (lines := "\n".join(lines_of(row, self._exercise.id))) and len(offers) < _MOST_CHECKS:
                offers.setdefault(lines, row)
        self._check = self._check or next((row.check.id for row in graded.checks if row.check.shown), "")
        if offers and str(self._lines.value) == self._filled:
            lines, row = next(iter(offers.items()))
            self._fill(lines, row.check.id)
        self._choices.clear()
        with self._choices:
            if offers:
                look.html("Lines of", "span").classes("soft")
            for lines, row in offers.items():
                words = f"{row.check.contract} {row.check.title}".strip()
                look.button(words, partial(self._choose, lines, row.check.id))

    def _fill(self, lines: str, check: str) -> None:
        self._check, self._filled = check, lines
        self._lines.value = lines

    async def _choose(self, lines: str, check: str) -> None:
        self._fill(lines, check)
        await self._run()

    async def _run(self) -> None:
        self._shown.content = '<p class="soft">Running ...</p>'
        runs = "\n".join(
            line
            for line in str(self._lines.value).split("\n")
            if not line.startswith(("from grader import accelerator", "accelerator.enable("))
        )
        try:
            printed = await self._live.run_lines(self._exercise, with_printed_expressions(runs), self._check or None)
            self._shown.content = preformatted_html(printed or "(no output)")
        except GraderError as error:
            self._shown.content = f"<p>{for_html(str(error))}</p>"

    async def _draw_memory(self) -> None:
        assert self._draw is not None
        await self._draw(lines_to_draw(str(self._lines.value)))


def lines_to_draw(text: str) -> str:
    """Replace each `print(...)` in lines of Python by its arguments, to draw what it prints.

    `print(f(g(x), y[0]))` becomes the three lines `g(x)`, `y[0]` and `f(g(x), y[0])`: calls and subscripts inside of an
    argument are drawn, too.

    Args:
        text: the lines.
    """
    statements, unread = parse_lines(text)
    rows: list[str] = []
    for node in statements:
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=values)):
                for value in values:
                    if isinstance(value, ast.Call):
                        rows += [ast.unparse(each) for each in value.args if isinstance(each, ast.Call | ast.Subscript)]
                    rows.append(ast.unparse(value))
            case _:
                rows.append(ast.get_source_segment(text, node) or ast.unparse(node))
    if unread is not None:  # the panel says what is wrong with the rest
        rows += text.split("\n")[statements[-1].end_lineno or 0 if statements else 0 :]
    return "\n".join(dict.fromkeys(rows))
