"""Tensors as storages and the views on them, to play with: lines and strides are the student's, and run in a worker."""

from __future__ import annotations

import json
import re
from functools import partial
from html import escape

from nicegui import ui

from grader.drawing.evaluated import program, read_evaluated_lines
from grader.drawing.svg import cells_svg, storage_letter
from grader.drawing.tensor import shared_sentences
from grader.model import Course, Exercise
from grader.model.errors import FormatError, GraderError
from grader.model.picture import View
from grader.report.safe import for_html
from grader.web import look
from grader.web.live import LiveGrading
from grader.web.map_page import links
from grader.web.task import preformatted_html

_FIRST = "x = torch.arange(12).reshape(3, 4)\ny = x.t()[1:, ::2]"
_TRIES = (
    ("A transposed slice", "x = torch.arange(12).reshape(3, 4)\ny = x.t()[1:, ::2]"),
    ("expand", "x = torch.arange(3)\ny = x.expand(2, 3)"),
    ("A copy", "x = torch.arange(6).reshape(2, 3)\ny = x.t().contiguous()"),
    ("as_strided", "x = torch.arange(8)\ny = x.as_strided((3, 4), (2, 1), 0)"),
    ("NumPy", "a = np.arange(6)\nt = torch.from_numpy(a)[2:]"),
)
_NUMBERS = re.compile(r"-?\d+")
_BY_HAND = re.compile(r"v = \w+\.as_strided\(")


def show_memory(live: LiveGrading) -> None:
    """Build the page on which tensors are drawn as views on their storages."""
    with look.page(live.course.title, links(live.course)):
        look.heading("See the memory", 1)
        look.html(
            "<p>A tensor is a view on a storage: element <code>[i, j]</code> lies at "
            "<code>offset + i * stride[0] + j * stride[1]</code>. Move the mouse over a cell to see where it lies, or "
            "write an element into the box below the picture. What shares memory has one colour and one letter.</p>"
        )
        exercise = first_with_torch(live.course)
        if exercise is None:
            look.html("<p>This course has no exercise about tensors.</p>")
            return
        ui.timer(0.1, MemoryPanel(live, exercise, own=False).draw, once=True)


def first_with_torch(course: Course) -> Exercise | None:
    """Return the first exercise whose workers have PyTorch and can draw tensors, or None."""
    return next((one for one in course.exercises if not one.without), None)


class MemoryPanel:
    """A panel with lines of Python, and a drawing of the tensors that they make as views on their storages.

    Its elements become a part of the page when it is constructed; `draw` runs the lines and fills the drawing.

    Args:
        live: the grading, whose workers run the lines.
        exercise: the exercise in whose worker they run.
        own: True if the lines may use the names of the student's file.
    """

    def __init__(self, live: LiveGrading, exercise: Exercise, *, own: bool = True) -> None:
        self._live, self._exercise, self._own = live, exercise, own
        self._views: list[View] = []
        self._base = "x"
        self._asked = self._draws = False
        with ui.element("div").classes("card"):
            with ui.element("label").classes("for"):
                also = f", and the names of {exercise.file_name}" if own else ""
                look.html(f"Lines of Python; they know torch and np{escape(also)}", "span")
                self._lines = look.code_area(_FIRST, "Lines of Python")
            with ui.element("div").classes("in-line").style("margin:.5rem 0"):
                look.button("Draw", self.draw, first=True)
                for words, text in _TRIES:
                    look.button(words, partial(self.draw_lines, text))
            with ui.element("fieldset").style("border:1px solid var(--line);border-radius:6px;margin:.5rem 0"):
                self._legend = look.html("A view of x by hand", "legend")
                with ui.element("div").classes("in-line"):
                    boxes = (("Shape", "3, 2"), ("Strides", "1, 8"), ("Offset", "1"))
                    self._boxes = [_input_box(words, text) for words, text in boxes]
                    look.button("Add this view", self._add_by_hand)
            self._said = look.html("").props('role="status" aria-live="polite"')
            self._picture = look.html("").classes("picture").props('tabindex="0" aria-label="Drawing of the memory"')
            self._facts = look.html("")
            with ui.element("div").classes("in-line"):
                self._where = _input_box("Which element? Such as y[1, 0]", "y[1, 0]")
                look.button("Show its place", self._show_place)
                self._answer = look.html("").props('aria-live="polite"')
        self._lines.on("keydown.ctrl.enter", self.draw)
        self._where.on("keydown.enter", self._show_place)

    async def draw_lines(self, text: str) -> None:
        """Put lines into the box, and draw the tensors that they make."""
        self._lines.value = text
        await self.draw()

    async def draw(self) -> None:
        """Run the lines in the box, and draw the tensors that they make.

        During a drawing, this returns at once, and the lines are drawn again after it.
        """
        self._asked = True
        if self._draws:
            return
        self._draws = True
        try:
            while self._asked:
                self._asked = False
                await self._draw_once()
        finally:
            self._draws = False

    async def _draw_once(self) -> None:
        """Run the lines that are in the box now, and draw their tensors; `draw` calls this."""
        self._said.content = '<p class="soft">Drawing ...</p>'
        self._answer.content = ""
        try:
            module = self._exercise.id if self._own else ""
            printed = await self._live.run_lines(self._exercise, program(str(self._lines.value), module), own=self._own)
        except GraderError as error:
            self._said.content = f"<p>{for_html(str(error))}</p>"
            return
        try:
            found = read_evaluated_lines(printed)
        except FormatError:  # the worker did not come so far: what it said, such as that it took too long
            self._said.content = (
                f"<p>Nothing could be drawn:</p>{preformatted_html(printed or 'the worker printed nothing')}"
            )
            return
        *output, _ = printed.rstrip("\n").rsplit("\n", 1)
        said = preformatted_html(output[0]) if output else ""
        if found.error:
            said += f"<p>Line {found.line} raises:</p>{preformatted_html(found.error)}"
        elif not found.tensors:
            said += "<p>These lines make no tensor and no NumPy array, so there is nothing to draw.</p>"
        else:
            said += f'<p class="soft">Drawn: {for_html(", ".join(one.name for one in found.tensors))}</p>'
        self._said.content = said
        self._views = [one.view for one in found.tensors if one.view is not None]
        texts = [f"{one.name}: {one.sentence}" for one in found.tensors]
        self._picture.content = cells_svg(found.tensors, "Tensors as views on their storages", ". ".join(texts))
        pairs = "".join(f"<li>{for_html(text)}</li>" for text in shared_sentences(found.tensors))
        self._facts.content = f"<ul>{pairs}</ul>" if pairs else ""
        tensors = [one.name for one in found.tensors if one.view is not None and "NumPy" not in one.device]
        self._base = next((name for name in tensors if name.isidentifier() and name != "v"), self._base)
        self._legend.content = for_html(f"A view of {self._base} by hand")

    async def _add_by_hand(self) -> None:
        shape, strides, offset = (_numbers(str(box.value)) for box in self._boxes)
        if len(shape) != len(strides) or len(offset) != 1:
            self._said.content = "<p>Shape and strides need equally many numbers, and the offset is one number.</p>"
            return
        view = f"v = {self._base}.as_strided({tuple(shape)}, {tuple(strides)}, {offset[0]})"
        rows = [line for line in str(self._lines.value).rstrip().split("\n") if not _BY_HAND.match(line)]
        await self.draw_lines("\n".join([*rows, view]))

    def _show_place(self) -> None:
        sentence, place = locate_element(str(self._where.value), self._views)
        self._answer.content = f"<p>{for_html(sentence)}</p>"
        if place:
            ui.run_javascript(f"markPlace(getHtmlElement({self._picture.id}), {json.dumps(place)})")


def locate_element(text: str, views: list[View]) -> tuple[str, str]:
    """Return where an element lies in its storage, and the name of its cell in the drawing.

    For `y[1, 0]`, and a view `y` with strides (1, 8) and offset 1, these are "y[1, 0] is element 2 of its storage:
    1 + 1 * 1 + 0 * 8." and "A2": cell 2 of storage A.

    Args:
        text: the element, such as `y[1, 0]`.
        views: the views that are drawn.

    Returns:
        A sentence on where it lies, or on why it is nowhere; and the name of the cell, or "" if there is no such
        element.
    """
    name, _, rest = text.strip().rpartition("[")
    if not name:
        return "Write an element as y[1, 0].", ""
    index = _numbers(rest)
    view = next((one for one in views if one.name == name.strip()), None)
    if view is None:
        drawn = ", ".join(one.name for one in views) or "no tensors"
        return f"{name.strip()} is not drawn; drawn are {drawn}.", ""
    if len(index) != len(view.shape):
        return f"{name} has shape {view.shape}, so an element needs {len(view.shape)} numbers.", ""
    whole = [at + size if at < 0 else at for at, size in zip(index, view.shape, strict=True)]
    if not all(0 <= at < size for at, size in zip(whole, view.shape, strict=True)):
        return f"{text.strip()} is out of range: {name} has shape {view.shape}.", ""
    steps = " + ".join(f"{at} * {step}" for at, step in zip(whole, view.strides, strict=True))
    place = view.offset + sum(at * step for at, step in zip(whole, view.strides, strict=True))
    letter = storage_letter(view.memory, list(dict.fromkeys(one.memory for one in views)))
    return f"{text.strip()} is element {place} of its storage: {view.offset} + {steps}.", f"{letter}{place}"


def _numbers(text: str) -> list[int]:
    return [int(number) for number in _NUMBERS.findall(text)[:8] if len(number) < 10]


def _input_box(words: str, text: str) -> ui.input:
    return ui.input(words, value=text).props("outlined dense")
