"""What commands print: lines, a line that changes while work goes on, errors without a traceback.

Lines are text with the escape codes of colours, which click takes out where they do not belong. `blocks` draws tables,
bars and code with rich, which takes too long to import for what every command prints.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from grader.model.errors import CourseError, GraderError

INTERRUPTED = 130
_QUICK_S = 1.0
_LINE_EVERY_S = 10.0
_WIDEST, _NARROWEST = 80, 40
_BAR, _SHORTEST_BAR = 24, 8
_AS_ASCII = str.maketrans("─│┌┬┐└┴┘█▒░━╸╺", "-|++++++#=.=  ")


def terminal_width() -> int:
    """Return the width of the terminal in columns, but at least 40 and at most 80."""
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns))


def has_plain_terminal() -> bool:
    """Return whether TERM says that the terminal does not support escape codes."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def refuses_colours() -> bool:
    """Return whether the environment refuses colours.

    It does so by NO_COLOR, or by a terminal that has no colours.
    """
    return bool(os.environ.get("NO_COLOR")) or has_plain_terminal()


def shows_colours() -> bool:
    """Return whether standard output is a terminal that shows colours.

    If it is not, callers print signs such as `> <` in place of colours.
    """
    return sys.stdout.isatty() and not refuses_colours()


class Say:
    """Prints lines at once, unless it is quiet."""

    _running = 0
    """The columns of the line that the next output replaces. All instances share it."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet

    def __call__(self, *lines: str, color: bool | None = None) -> None:
        """Print lines, unless this object is quiet.

        Args:
            *lines: the lines, which may have colours.
            color: True if the colours stay even in a pipe, for the log of a job; None if they stay on a terminal only.
        """
        if not self._quiet:
            self.erase()
            for line in lines:
                click.echo(_encodable(line), color=color)
            sys.stdout.flush()

    def prose(self, *texts: str) -> None:
        """Print sentences, made safe and wrapped.

        A line break inside of a sentence is spelled out, so that what follows it cannot pass for a row of its own.
        """
        from grader.report.safe import for_terminal, prose

        width = terminal_width()
        self(*(line for text in texts for line in prose(for_terminal(text, one_line=True), width, "", "  ")))

    def running(self, what: str, seconds: float, done: tuple[int, int] | None = None) -> None:
        """Show on a terminal what is running and for how long, such as "double ... 3 s".

        Each call replaces the line of the call before. In the first second nothing is shown.

        Args:
            what: a text about what goes on.
            seconds: the seconds for which it has run.
            done: the number that is done, and the number of all; a bar shows them.
        """
        if seconds >= _QUICK_S:
            self.meanwhile(what, f" ... {seconds:.0f} s", done)

    def meanwhile(self, what: str, end: str = "", done: tuple[int, int] | None = None) -> None:
        """Show a line on a terminal until the next output replaces it.

        The line is cut to the width of the terminal.

        Args:
            what: a text about what goes on.
            end: a text that stands behind it, even where it is cut.
            done: the number that is done, and the number of all; if there is room, a bar before the text shows them.
        """
        if self._quiet or not sys.stdout.isatty():
            return
        from grader.report.safe import column_count, for_terminal, shorten

        text, room = for_terminal(what, one_line=True), terminal_width() - len(end) - 3
        long, bar = min(_BAR, room - column_count(text) - 1), ""
        if done is not None and long >= _SHORTEST_BAR:
            from grader.report.blocks import bar_text

            bar, room = f"{_encodable(bar_text(*done, long, colours=shows_colours()))} ", room - long - 1
        text = f"  {bar}{shorten(text, room)}{end}"
        self.erase()
        click.echo(text, nl=False)
        sys.stdout.flush()
        Say._running = column_count(click.unstyle(text))

    def clear(self) -> None:
        """Clear the screen, if the output is a terminal that can do that."""
        if not self._quiet and sys.stdout.isatty() and not has_plain_terminal():
            click.echo("\x1b[2J\x1b[1;1H", nl=False, color=True)  # NO_COLOR refuses colours, which these codes are not

    @classmethod
    def erase(cls) -> None:
        """Erase the line that `meanwhile` shows.

        The next output begins where that line began.
        """
        # Blanks and no escape codes: any terminal understands a carriage return.
        if Say._running:
            click.echo(f"\r{' ' * Say._running}\r", nl=False)
            sys.stdout.flush()
            Say._running = 0


def _encodable(line: str) -> str:
    """Return a line that standard output can encode.

    Boxes and bars become ASCII, unless the encoding is a UTF.
    """
    return line if (sys.stdout.encoding or "").lower().startswith("utf") else line.translate(_AS_ASCII)


class Pace:
    """Shows the rate of a run: in a line that changes, with a bar, or, without a terminal, in a line every ten seconds.

    Args:
        say: prints the lines.
        at_end: the text that is printed once all is done; by default how much that is.
    """

    def __init__(self, say: Say, at_end: str = "") -> None:
        self._say = say
        self._at_end = at_end
        from grader.report.blocks import Rate

        self._rate = Rate()
        self._printed = time.monotonic()

    def __call__(self, done: int, total: int, meanwhile: str = "") -> None:
        """Show how much is done, how fast, and how long the rest takes.

        Args:
            done: the number that is done now.
            total: the number of all.
            meanwhile: a text that follows in the same line.
        """
        text = f"{self._rate.text(done, total)}{meanwhile}"
        if done == total and self._at_end:
            text = self._at_end
        if sys.stdout.isatty():
            self._say.meanwhile(text, done=(done, total))
        elif time.monotonic() - self._printed >= _LINE_EVERY_S:
            self._printed = time.monotonic()
            self._say(f"  {text}")


def print_error(line: str) -> None:
    """Print one line about what is wrong, on standard error."""
    from grader.report.safe import for_terminal, prose

    Say.erase()
    text = f"grade: {line}"
    # A terminal would break a name in two; for a file or a program a line stays a line.
    lines = prose(text, terminal_width(), further="  ") if sys.stderr.isatty() else [for_terminal(text)]
    click.echo("\n".join(lines), err=True)


@contextmanager
def errors_as_lines() -> Iterator[None]:
    """Print an error of the block without a traceback, and exit with the error's status.

    This holds for a `GraderError`, an error of the command line, and Ctrl-C.
    """
    try:
        yield
    except GraderError as error:
        for line in str(error).split("\n"):
            print_error(line)
        sys.exit(error.exit_status)
    except click.ClickException as error:
        # Click's own words begin with "Error:" and a usage that names a command which nobody typed.
        text = error.format_message().removesuffix(".")
        print_error(f"{text[:1].lower()}{text[1:]}")
        if (context := getattr(error, "ctx", None)) is not None:
            print_error(f"to see what it takes:  {context.command_path.removesuffix(' run')} --help")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        click.echo("grade: interrupted", err=True)
        sys.exit(INTERRUPTED)


@contextmanager
def explain_missing_package(package: str, extra: str) -> Iterator[None]:
    """Raise a `CourseError` on how to install a package if the block cannot import it.

    Args:
        package: the package that the block imports.
        extra: the extra of the grader that installs it.

    Raises:
        CourseError: the package is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise CourseError(
            f"this needs {package} ({error}); install it with  pip install {requirements_of_extra(extra)}"
        ) from None


def requirements_of_extra(extra: str) -> str:
    """Return the arguments for `pip install` that install an extra of the grader.

    For "similarity" it is `"copydetect>=0.5,<0.6"`, with the quotes: the packages of the extra, without the grader
    itself, which may be in no package index.
    """
    from importlib import metadata

    from packaging.requirements import Requirement

    needed = (Requirement(text) for text in metadata.requires("tensorgrade") or ())
    marked = ((each, each.marker) for each in needed if each.marker)
    of_extra = (
        each for each, marker in marked if marker.evaluate({"extra": extra}) and not marker.evaluate({"extra": ""})
    )
    # The lower bound first, as pyproject.toml has it: a wheel's metadata may have another order.
    bounds = ((each.name, sorted(map(str, each.specifier), reverse=True)) for each in of_extra)
    return " ".join(f'"{name}{",".join(each)}"' for name, each in bounds)


def print_json(data: Any) -> None:
    """Print data as JSON, for another program."""
    click.echo(json.dumps(data, indent=1))
