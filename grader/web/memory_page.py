"""Tensors as storages and the views on them, to play with: lines and strides are the student's, and run in a worker."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from html import escape

from nicegui import ui

from grader.drawing.evaluated import answer_of, program
from grader.drawing.svg import cells_svg
from grader.drawing.tensor import shared_sentences
from grader.model import Exercise
from grader.model.errors import GraderError
from grader.model.picture import View
from grader.report.safe import for_html
from grader.web import look
from grader.web.live import Live
from grader.web.map_page import links
from grader.web.task import pre

_FIRST = "x = torch.arange(12).reshape(3, 4)\ny = x.t()[1:, ::2]"
_TRIES = (
    ("A transposed slice", "x = torch.arange(12).reshape(3, 4)\ny = x.t()[1:, ::2]"),
    ("expand", "x = torch.arange(3)\ny = x.expand(2, 3)"),
    ("A copy", "x = torch.arange(6).reshape(2, 3)\ny = x.t().contiguous()"),
    ("as_strided", "x = torch.arange(8)\ny = x.as_strided((3, 4), (2, 1), 0)"),
    ("NumPy", "a = np.arange(6)\nt = torch.from_numpy(a)[2:]"),
)
_NUMBERS = re.compile(r"-?\d+")
_MOST = 4096


def show_memory(live: Live) -> None:
    """Build the page on which tensors are drawn as views on their storages."""
    with look.page(live.course.title, links(live.course)):
        look.heading("See the memory", 1)
        look.html(
            "<p>A tensor is a view on a storage: element <code>[i, j]</code> lies at "
            "<code>offset + i * stride[0] + j * stride[1]</code>. Move the mouse over a cell, or press Tab to the box "
            "below the picture, to see where it lies. What shares memory has one colour and one letter.</p>"
        )
        exercise = next((one for one in live.course.exercises if not one.without), None)
        if exercise is None:
            look.html("<p>This course has no exercise about tensors.</p>")
            return
        ui.timer(0.1, show_panel(live, exercise, own=False), once=True)


def show_panel(live: Live, exercise: Exercise, *, own: bool = True) -> Callable[[], Awaitable[None]]:
    """Build the panel that draws tensors of the student's lines; return the function that draws them.

    Args:
        live: runs the lines.
        exercise: in whose worker they run.
        own: whether the lines may use the names of the student's file.
    """
    tries: list[tuple[ui.element, str]] = []
    with ui.element("div").classes("card"):
        with ui.element("label").classes("for"):
            also = f", and the names of {exercise.file_name}" if own else ""
            look.html(f"Lines of Python; they know torch and np{escape(also)}", "span")
            lines = _area(_FIRST)
        with ui.element("div").classes("in-line").style("margin:.5rem 0"):
            draw = look.button("Draw", lambda: None, first=True)
            for words, text in _TRIES:
                tries.append((look.button(words, lambda: None), text))
        with ui.element("fieldset").style("border:1px solid var(--line);border-radius:6px;margin:.5rem 0"):
            look.html("A view of x by hand", "legend")
            with ui.element("div").classes("in-line"):
                boxes = [_box(words, text) for words, text in (("Shape", "3, 2"), ("Strides", "1, 8"), ("Offset", "1"))]
                hand = look.button("Add this view", lambda: None)
        said = look.html("").props('role="status" aria-live="polite"')
        picture = look.html("").classes("picture").props('tabindex="0" aria-label="Drawing of the memory"')
        facts = look.html("")
        with ui.element("div").classes("in-line"):
            where = _box("Which element? Such as y[1, 0]", "y[1, 0]")
            answer = look.html("").props('aria-live="polite"')

    state: dict[str, list[View]] = {"views": []}

    async def redraw() -> None:
        said.content = '<p class="soft">Drawing ...</p>'
        rows = [line for line in str(lines.value).split("\n") if line.strip()]
        try:
            printed = await live.run_lines(exercise, program(rows, exercise.id if own else ""), own=own)
            found = answer_of(printed)
        except GraderError as error:
            said.content = f"<p>{for_html(str(error))}</p>"
            return
        raised = f"<p>Line {found.line} raises:</p>{pre(found.error)}" if found.error else ""
        said.content = raised or f'<p class="soft">{len(found.tensors)} drawn</p>'
        state["views"] = [one.view for one in found.tensors if one.view is not None]
        texts = [f"{one.name}: {one.sentence}" for one in found.tensors]
        picture.content = cells_svg(found.tensors, "Tensors as views on their storages", ". ".join(texts))
        pairs = "".join(f"<li>{for_html(text)}</li>" for text in shared_sentences(found.tensors))
        facts.content = f"<ul>{pairs}</ul>" if pairs else ""

    def _by_hand() -> None:
        shape, strides, offset = (_numbers(str(box.value)) for box in boxes)
        if len(shape) != len(strides) or len(offset) != 1:
            said.content = "<p>Shape and strides need equally many numbers, and the offset is one number.</p>"
            return
        view = f"v = x.as_strided({tuple(shape)}, {tuple(strides)}, {offset[0]})"
        rows = [
            line for line in str(lines.value).split("\n") if line.strip() and not line.startswith("v = x.as_strided(")
        ]
        lines.value = "\n".join([*rows, view])

    async def _hand() -> None:
        _by_hand()
        await redraw()

    def _where() -> None:
        answer.content = f"<p>{for_html(place_of(str(where.value), state['views']))}</p>"

    draw.on("click", redraw)
    for made, text in tries:
        made.on("click", _filled(lines, text, redraw))
    hand.on("click", _hand)
    lines.on("keydown.ctrl.enter", redraw)
    where.on("keydown.enter", _where)
    where.on("blur", _where)
    return redraw


def place_of(text: str, views: list[View]) -> str:
    """Return a sentence on where an element of a tensor is in its storage.

    Args:
        text: such as `y[1, 0]`.
        views: what is drawn.
    """
    name, _, rest = text.strip().rpartition("[")
    if not name:
        return "Write an element as y[1, 0]."
    index = _numbers(rest)
    view = next((one for one in views if one.name == name.strip()), None)
    if view is None:
        return f"{name.strip()} is not drawn; drawn are {', '.join(one.name for one in views) or 'no tensors'}."
    if len(index) != len(view.shape):
        return f"{name} has shape {view.shape}, so an element needs {len(view.shape)} numbers."
    whole = [at + size if at < 0 else at for at, size in zip(index, view.shape, strict=True)]
    if not all(0 <= at < size for at, size in zip(whole, view.shape, strict=True)):
        return f"{text.strip()} is out of range: {name} has shape {view.shape}."
    steps = " + ".join(f"{at} * {step}" for at, step in zip(whole, view.strides, strict=True))
    place = view.offset + sum(at * step for at, step in zip(whole, view.strides, strict=True))
    return f"{text.strip()} is element {place} of its storage: {view.offset} + {steps}."


def _numbers(text: str) -> list[int]:
    return [int(number) for number in _NUMBERS.findall(text)[:8] if len(number) < 10]


def _filled(lines: ui.element, text: str, draw: Callable[[], object]) -> Callable[[], object]:
    def fill() -> object:
        lines.value = text  # type: ignore[attr-defined]
        return draw()

    return fill


def _area(text: str) -> ui.textarea:
    area = ui.textarea(value=text).props("outlined dense autogrow input-class=mono").style("width:100%")
    area.props('aria-label="Lines of Python"')
    return area


def _box(words: str, text: str) -> ui.input:
    return ui.input(words, value=text).props("outlined dense")
