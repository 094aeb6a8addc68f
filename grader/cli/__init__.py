"""The command `grade`: commands parse options, call one function of another package, and print.

Their modules are imported when they are used, and import other packages inside of functions, so that `grade --help` and
the first line of output are quick. A new command is a function of a module here, and a row in `COMMANDS`.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

if sys.version_info < (3, 11):  # noqa: UP036  said here, and not by a traceback of some import
    here = ".".join(map(str, sys.version_info[:2]))
    sys.exit(f"grade: Python 3.11 or later is needed, this is {here}; make an environment with a later one")

from grader.cli.printing import errors_as_lines

_GRADE = "run"

COMMANDS = {
    _GRADE: "grade:grade_command",
    "batch": "batch:batch_command",
    "report": "report:report_command",
    "diff": "report:diff_command",
    "export": "report:export_command",
    "gather": "report:gather_command",
    "ci": "ci:ci_command",
    "init-ci": "ci:init_ci_command",
    "package": "ci:package_command",
    "verify": "author:verify_command",
    "doctor": "doctor:doctor_command",
    "new": "author:new_command",
    "pages": "author:pages_command",
    "release": "author:release_command",
    "pack": "student:pack_command",
    "start": "student:start_command",
    "update": "student:update_command",
    "list": "student:list_command",
    "next": "student:next_command",
    "watch": "student:watch_command",
    "show": "student:show_command",
    "hint": "student:hint_command",
    "reset": "student:reset_command",
    "trace": "games:trace_command",
    "draw": "games:draw_command",
    "break": "games:break_command",
    "catch": "games:catch_command",
}
"""Each command, with its module here and the name of its function in it."""


class _Commands(click.Group):
    """A group whose commands are imported when they are used; a word that is not a command is an exercise."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, without importing anything."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, function = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(f"grader.cli.{module}"), function)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error of ours or of the course's becomes lines and an exit status."""
        with errors_as_lines():
            return super().invoke(ctx)

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
