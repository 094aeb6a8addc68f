"""The command `grade`: a file for each command, imported when it is used, so that `grade --help` is quick.

A new command is a module here with a function `command`, and a row in `COMMANDS`.
"""

from __future__ import annotations

import importlib
import os
import sys

import click

if sys.version_info < (3, 11):  # noqa: UP036  found out here, and not by a traceback of some import
    here = ".".join(map(str, sys.version_info[:2]))
    sys.exit(f"grade: Python 3.11 or later is needed, this is {here}; make an environment with a later one")

_GRADE = "run"

COMMANDS = {
    _GRADE: "grade",
    "batch": "batch",
    "report": "report",
    "diff": "diff",
    "export": "export",
    "ci": "ci",
    "gather": "gather",
    "init-ci": "init_ci",
    "package": "package",
    "verify": "verify",
    "doctor": "doctor",
    "new": "new",
    "pages": "pages",
    "release": "release",
    "pack": "pack",
    "start": "start",
    "update": "update",
    "list": "list",
    "next": "next",
    "watch": "watch",
    "show": "show",
    "hint": "hint",
    "reset": "reset",
    "trace": "games:trace",
    "draw": "games:draw",
    "break": "games:break_it",
    "catch": "games:catch",
}
"""Each command, and the module that it stands in, with the name that it has there if that is not `command`."""


class _Commands(click.Group):
    """A group whose commands are imported when they are used, and in which what is no command is an exercise."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, without importing anything."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(f"grader.cli.{module}"), name or "command")
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the default command before arguments that name none."""
        if not args or (args[0] not in COMMANDS and args[0] not in ("--help", "-h", "--version")):
            args = [_GRADE, *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of grading, which has no name of its own, before the commands."""
        grading = self.get_command(ctx, _GRADE)
        assert grading is not None
        options = [item for item in (*grading.params, *self.get_params(ctx)) if isinstance(item, click.Option)]
        rows = [row for option in options if (row := option.get_help_record(ctx))]
        with formatter.section("Options"):
            formatter.write_dl(rows)
        self.format_commands(ctx, formatter)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tensorgrade", prog_name="grade")
def main() -> None:
    """Grade exercises about PyTorch tensors.

    \b
    grade                     grade the course in this folder
    grade predict_strides     grade one exercise, by id or number (02-1)
    grade --submission DIR    grade the files in another folder
    """  # noqa: D301  the backslash is click's own mark for lines that stay as they are
    if os.environ.get("NO_COLOR"):
        click.get_current_context().color = False
    # A console that cannot show a character shows its code instead of failing.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
