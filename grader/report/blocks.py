"""What rich draws for a terminal: tables, bars, the rate of a run, and code with colours.

rich is imported inside of functions, as that takes longer than many commands run. Student text goes to rich as `Text`,
never as markup, and is made safe before: rich hands an escape character to the terminal as it is. rich wraps the cells
of tables and nothing else, as it would break commands and paths; see `safe.wrap`.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.report.safe import column_count, for_terminal, shorten

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress
    from rich.text import Text

    from grader.report.html import CodeLine

_MINUTE_S, _HOUR_S = 60, 3600
_STEP = 2


def _render(what: RenderableType, width: int, *, colours: bool) -> list[str]:
    """Render an object with rich, independent of environment variables, and return the lines."""
    from rich.console import Console

    console = Console(
        file=io.StringIO(),
        width=width,
        height=25,
        color_system="standard" if colours else None,
        force_terminal=colours,
        force_jupyter=False,
        no_color=not colours,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )
    with console.capture() as captured:
        console.print(what, crop=False)
    return captured.get().splitlines()


# -- tables


@dataclass(frozen=True)
class TableColumn:
    """A column of a table.

    Attributes:
        title: the text at its top.
        least: its least width, in columns of the terminal.
        is_text: True if it begins at the left and is wrapped; numbers end at the right and are not.
    """

    title: str
    least: int = 0
    is_text: bool = False


Cell = str | tuple[str, ...]
"""A safe text; or several, each in lines of its own, those after the first further in."""


def table_lines(
    heads: Sequence[TableColumn], rows: Iterable[Sequence[Cell]], width: int, *, gap: int = _STEP
) -> Iterator[str]:
    """Yield the lines of a table for a terminal, such as one with a row for each exercise.

    The lines are wider than the terminal only if the numbers need more columns. A table with a row for each person of a
    class is printed row by row, without this function: rich needs all rows at once, and a millisecond for each.

    Args:
        heads: the columns.
        rows: the cells, a row at a time.
        width: columns of the terminal.
        gap: blanks between columns, at least.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 0, 0, gap), pad_edge=False, header_style="")
    for head in heads:
        table.add_column(
            Text(head.title),
            justify="left" if head.is_text else "right",
            min_width=head.least,
            no_wrap=not head.is_text,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*map(_render_cell, row))
    yield from (line.rstrip() for line in _render(table, width, colours=False))


def _render_cell(cell: Cell) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    if isinstance(cell, str):
        return Text(cell)
    first, *others = cell
    return Group(Text(first), *(Padding(Text(text), (0, 0, 0, _STEP)) for text in others))


# -- a run that goes on


class Rate:
    """The rate at which a number grows, from the first growth on: before that, processes start.

    Args:
        clock: returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._progress: Progress | None = None
        self._last = 0

    def text(self, done: int, total: int) -> str:
        """Record the number that is done, and return the progress and the rate as text.

        An example is "30 of 120, 15 a minute, 6 min left". If `done` is less than in the call before, a new rate
        begins.

        Args:
            done: the number that is done now.
            total: the number of all.
        """
        from rich.progress import Progress

        if self._progress is None or done < self._last:
            # By itself, rich forgets steps after 30 s, and then has no rate where each step takes longer.
            self._progress = Progress(auto_refresh=False, speed_estimate_period=_HOUR_S, get_time=self._clock)
            self._progress.add_task("", total=total, completed=done)  # an earlier run may have done some
        (task,) = self._progress.tasks
        self._progress.update(task.id, completed=done, total=total)
        self._last = done
        if not task.speed:
            return f"{done} of {total}"
        left = (total - done) / task.speed
        time_left = f"{left:.0f} s" if left < 2 * _MINUTE_S else f"{left / _MINUTE_S:.0f} min"
        return f"{done} of {total}, {task.speed * _MINUTE_S:.0f} a minute, {time_left} left"


def bar_text(done: int, total: int, width: int, *, colours: bool) -> str:
    """Return a bar of progress as a text of one line.

    Args:
        done: the number that is done.
        total: the number of all.
        width: columns of the bar.
        colours: True if what is done is green and the rest is dim; without, the rest is blank.
    """
    from rich.progress_bar import ProgressBar

    bar = ProgressBar(max(1, total), done, width, style="dim", complete_style="green", finished_style="green")
    (text,) = _render(bar, width, colours=colours) or [""]
    return text if colours else text + " " * (width - column_count(text))


# -- code


def code_lines(lines: Sequence[CodeLine], indent: str, width: int, *, colours: bool) -> Iterator[str]:
    """Yield lines of code with their numbers, each cut to the width.

    A marked line is like `>   12      return x`; other lines have no `>`.

    Args:
        lines: the number and the text of each line, and whether it is marked.
        indent: the text before the `>`.
        width: columns of the terminal.
        colours: True if a marked line is bold, and the code coloured.
    """
    heads = [f"{indent}{'>' if is_marked else ' '} {number or '':>4}  " for number, _, is_marked in lines]
    texts = [
        shorten(for_terminal(text, one_line=True), width - len(head))
        for head, (_, text, _) in zip(heads, lines, strict=True)
    ]
    if not colours:
        yield from (f"{head}{text}".rstrip() for head, text in zip(heads, texts, strict=True))
        return
    from rich.text import Text

    for head, text, (_, _, is_marked) in zip(heads, _highlight(texts), lines, strict=True):
        whole = Text.assemble((head, "bold red" if is_marked else "dim"), text)
        if is_marked:
            whole.stylize("bold")
        yield _ansi_text(whole)


def coloured_code(lines: Sequence[str]) -> list[str]:
    """Return safe lines of Python in colours, none of them wrapped or cut."""
    return [_ansi_text(text) for text in _highlight(lines)]


def _ansi_text(text: Text) -> str:
    (line,) = _render(text, max(1, column_count(text.plain)), colours=True) or [""]
    return line


def _highlight(lines: Sequence[str]) -> Sequence[Text]:
    """Return lines of Python in colours that can be read on dark and on light terminals."""
    from rich.style import Style
    from rich.syntax import ANSISyntaxTheme, Syntax

    theme = ANSISyntaxTheme(
        {
            ("Comment",): Style(dim=True),
            ("Keyword",): Style(bold=True),
            ("Operator", "Word"): Style(bold=True),
            ("Literal", "String"): Style(color="green"),
            ("Literal", "Number"): Style(color="cyan"),
        }
    )
    text = Syntax("", "python", theme=theme).highlight("\n".join(lines))
    return text.split("\n", allow_blank=True)[: len(lines)]
