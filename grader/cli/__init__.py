"""The command `grade`: commands parse options, call one function of another package, and print.

Their modules are imported when they are used, and import other packages inside of functions, so that `grade --help` and
the first line of output are quick. A new command is a function of a module here, and a word in `_TABLE`.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from grader.model.errors import CourseError
from grader.report.console import errors_as_lines

_GRADE = "run"
_GRADING = "[EXERCISE]..."

_TABLE = {
    "Start here": "start:student next:student open:student run:grade watch:student try:student hint:student "
    "show:student list:student",
    "Learning": "reset:student update:student pack:student drill:student break:student catch:student draw:student "
    "trace:student doctor:doctor",
    "Teaching": "batch:grade report:report similar:report diff:report export:report term:report gather:report "
    "forget:report release:author",
    "CI and authoring": "ci:author init-ci:author package:author clone:author new:author verify:author pages:author",
}
GROUPS = {title: dict(word.split(":") for word in words.split()) for title, words in _TABLE.items()}
"""The commands in the order of `grade --help`, each with its module: `diff:report` is `diff_command` in `report`."""

COMMANDS = {name: module for group in GROUPS.values() for name, module in group.items()}


_SAME = {"edit": ["open"], "test": [_GRADE], "version": ["--version"], "solution": ["show", "--reference"]}
"""What people type, and the words that do it."""

_INSTEAD = {"submit": "nothing is sent from here:  grade pack  writes the file that you hand in, and says where it is"}
"""What people type, and what they can do."""


class _Commands(click.Group):
    """A group whose commands are imported when they are used; a word that is not a command is an exercise."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, without importing anything."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        return _command(cmd_name) if cmd_name in COMMANDS else None

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error of ours or of the course's becomes lines and an exit status."""
        with errors_as_lines():
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the default command before arguments that name none."""
        if args and args[0] in _INSTEAD:
            with errors_as_lines():
                raise CourseError(_INSTEAD[args[0]])
        if args and args[0] in _SAME:
            args = [*_SAME[args[0]], *args[1:]]
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        if not args or (args[0] not in COMMANDS and args[0] not in ("--help", "-h", "--version")):
            args = [_GRADE, *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands in groups, then the options of grading, which has no name of its own."""
        width = len(_GRADING)
        for title, names in GROUPS.items():
            rows = [(_GRADING if name == _GRADE else name, _command(name).get_short_help_str(10_000)) for name in names]
            with formatter.section(title):
                formatter.write_dl([(f"{name:{width}}", text) for name, text in rows], col_max=width)
        options = [item for item in (*_command(_GRADE).params, *self.get_params(ctx)) if isinstance(item, click.Option)]
        with formatter.section(f"Options of grade {_GRADING}"):
            formatter.write_dl([row for option in options if (row := option.get_help_record(ctx))])


def _command(name: str) -> click.Command:
    module = importlib.import_module(f"grader.cli.{COMMANDS[name]}")
    command: click.Command = getattr(module, f"{name.replace('-', '_')}_command")
    return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tensorgrade", prog_name="grade")
def main() -> None:
    """Learn PyTorch tensors by exercises, and grade them.

    Without a command, grade grades the exercises that you name, by id, number or module, or all that you have
    started. Each command explains itself: grade watch --help
    """
    if os.environ.get("NO_COLOR"):
        click.get_current_context().color = False
    # A console that cannot show a character shows its code instead of failing.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
