"""`draw` and `explain`, for a student's own scripts, prompts and notebooks: `from grader import draw, explain`."""

from __future__ import annotations

import ast
import shutil
import sys
from types import FrameType, TracebackType
from typing import Any

import click

from grader.drawing.drawing import Drawing, drawing_of
from grader.drawing.failures import Watcher, expression_at, ipython_shell
from grader.drawing.reasons import Explanation, explain_call
from grader.report.console import shows_colours

_WIDTH = 100


def draw(*values: Any, expected: Any = None, **named: Any) -> None:
    """Draw tensors: in a terminal as text, in a notebook as SVG.

    `draw(x)` shows a tensor as its storage and the view on it. `draw(a, b)` also shows what they share, and how their
    shapes align for broadcasting. `draw(x, expected=y)` shows values side by side, with the wrong ones marked.
    `draw((3, 1), (4,))` aligns shapes alone.

    Args:
        values: tensors, NumPy arrays, or shapes as tuples.
        expected: the values that a single small tensor should have.
        named: tensors, arrays or shapes with names of your own.

    Raises:
        TypeError: a value cannot be drawn.
        ValueError: there is nothing to draw.
    """
    names = _names_of_values(sys._getframe(1), values)
    _show(drawing_of({**dict(zip(names, values, strict=True)), **named}, expected))


class explain:  # noqa: N801  used as `with explain():`
    """Explain an error of PyTorch that a `with` block raises, below its traceback; the error is not caught.

    It says which operands clash in which dims, and what to try, with a picture of shapes or storages:

        with grader.explain():
            loss = model(x)
    """

    def __enter__(self) -> explain:
        """Begin to watch the calls of PyTorch."""
        self._watcher = Watcher()
        self._watcher.__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Add an explanation to the error with which the block ended, if a call of PyTorch raised it."""
        self._watcher.__exit__(kind, error, traceback)  # type: ignore[no-untyped-call]
        failed = self._watcher.failed
        remove_our_frames(traceback)
        if error is None or failed is None or failed.error not in _error_chain(error):
            return
        try:
            found = explain_call(failed, failed.error.__traceback__ if failed.error is not error else traceback)
        except Exception as own:  # the student's error counts, and ours must not take its place
            error.add_note(f"grader.explain could not explain this: {type(own).__name__}: {own}")
            return
        if found is not None:
            _add_explanation(error, found)


def remove_our_frames(traceback: TracebackType | None) -> None:
    """Remove the frames of `Watcher` from a traceback, in place.

    The traceback then reads as it does without `explain`.
    """
    while traceback is not None:
        below = traceback.tb_next
        while below is not None and below.tb_frame.f_globals.get("__name__") == Watcher.__module__:
            below = below.tb_next
        traceback.tb_next = below
        traceback = below


def _error_chain(error: BaseException) -> list[BaseException]:
    """Return an error, then the error that it was raised from or after, and so on."""
    found: list[BaseException] = []
    now: BaseException | None = error
    while now is not None and now not in found:
        found.append(now)
        now = now.__cause__ or now.__context__
    return found


def _add_explanation(error: BaseException, found: Explanation) -> None:
    """Add an explanation to an error as a note, which Python prints below the error.

    In a notebook, also show the drawing of the explanation.
    """
    error.add_note("\n".join(found.lines(_columns())))
    if found.drawing is not None and _in_notebook():
        _show(found.drawing)


def _columns() -> int:
    return min(_WIDTH, shutil.get_terminal_size((80, 24)).columns)


def _in_notebook() -> bool:
    return hasattr(ipython_shell(), "kernel")


def _show(drawing: Drawing) -> None:
    """Show a drawing in the notebook, or print it in a terminal.

    It is printed with the characters that the terminal can show.
    """
    if _in_notebook():
        from IPython.display import display

        display(drawing)
        return
    encoding = sys.stdout.encoding or "utf-8"
    try:
        "┌".encode(encoding)
        is_plain = False
    except UnicodeEncodeError:
        is_plain = True
    click.echo("\n".join(drawing.lines(_columns(), plain=is_plain, colours=shows_colours())))


def _names_of_values(frame: FrameType, values: tuple[Any, ...]) -> list[str]:
    """Return a name for each value that the caller draws.

    For `draw(x, y.T)` they are "x" and "y.T", the sources in the caller's call. If there is no source, it is the
    caller's variable that holds the value, or else a name such as "tensor 1".
    """
    code = frame.f_code
    positions = list(code.co_positions())[frame.f_lasti // 2]
    node = expression_at(code.co_filename, positions, frame.f_globals)
    given = node.args if isinstance(node, ast.Call) else []
    sources = [ast.unparse(each) for each in given if not isinstance(each, ast.Starred)]
    known = {**frame.f_globals, **frame.f_locals}
    # Not None or a number, which are one object for many names.
    variables = {id(value): name for name, value in known.items() if hasattr(value, "shape")}
    names: list[str] = []
    for number, value in enumerate(values):
        source = sources[number] if len(sources) == len(values) else ""
        is_shape = isinstance(value, tuple)
        name = source if source and not is_shape else variables.get(id(value), "") if not is_shape else ""
        name = name or (f"shape {number + 1}" if is_shape else f"tensor {number + 1}")
        names.append(name if name not in names else f"{name} ({number + 1})")
    return names
