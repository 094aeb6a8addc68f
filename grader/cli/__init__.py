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
_GRADING = "[EXERCISE]..."

GROUPS = {
    "Start here": {
        "start": "student:start_command",
        "next": "student:next_command",
        "open": "student:open_command",
        _GRADE: "grade:grade_command",
        "watch": "student:watch_command",
        "try": "student:try_command",
        "hint": "student:hint_command",
        "show": "student:show_command",
        "list": "student:list_command",
    },
    "Learning": {
        "reset": "student:reset_command",
        "update": "student:update_command",
        "pack": "student:pack_command",
        "drill": "games:drill_command",
        "break": "games:break_command",
        "catch": "games:catch_command",
        "draw": "games:draw_command",
        "trace": "games:trace_command",
        "doctor": "doctor:doctor_command",
    },
    "Teaching": {
        "batch": "batch:batch_command",
        "report": "report:report_command",
        "similar": "report:similar_command",
        "diff": "report:diff_command",
        "export": "report:export_command",
        "term": "report:term_command",
        "gather": "report:gather_command",
        "forget": "report:forget_command",
        "release": "author:release_command",
    },
    "CI and authoring": {
        "ci": "ci:ci_command",
        "init-ci": "ci:init_ci_command",
        "package": "ci:package_command",
        "clone": "ci:clone_command",
        "new": "author:new_command",
        "verify": "author:verify_command",
        "pages": "author:pages_command",
    },
}
"""The commands in the order of `grade --help`: each with its module here and the name of its function in it."""

COMMANDS = {name: place for group in GROUPS.values() for name, place in group.items()}


class _Commands(click.Group):
    """A group whose commands are imported when they are used; a word that is not a command is an exercise."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, without importing anything."""
        return list(COMMANDS)

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
        """The commands in groups, then the options of grading, which has no name of its own."""
        commands = {name: self.get_command(ctx, name) for name in COMMANDS}
        width = len(_GRADING)
        for title, names in GROUPS.items():
            rows = [
                (_GRADING if name == _GRADE else name, command.get_short_help_str(10_000))
                for name in names
                if (command := commands[name]) is not None
            ]
            with formatter.section(title):
                formatter.write_dl([(f"{name:{width}}", text) for name, text in rows], col_max=width)
        grading = commands[_GRADE]
        assert grading is not None
        options = [item for item in (*grading.params, *self.get_params(ctx)) if isinstance(item, click.Option)]
        with formatter.section(f"Options of grade {_GRADING}"):
            formatter.write_dl([row for option in options if (row := option.get_help_record(ctx))])


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
