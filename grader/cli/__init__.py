"""The command `grade`: commands parse options, call one function of another package, and print.

Their modules are imported when they are used, and import other packages inside of functions, so that `grade --help` and
the first line of output are quick. A new command is a function of a module here, and a row in `GROUPS`.

run, grade        `grade [EXERCISE]...`: its options, and what it does
student, games    what students type
batch, report     a class is graded; what came of it
author, ci        what authors type; what runs in CI jobs
web, doctor       `grade web`, `grade doctor`
options           what several commands have
exit_status       the exit status of a command that grades
ready             the process that has imported what `grade` imports, and runs it in a fork
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

_GRADE = "run"
_GRADING = "[EXERCISE]..."

GROUPS = {
    "Start here": {
        "start": ("student", "Copy the course into DIR, a new or empty folder."),
        "next": ("student", "Show which exercise comes next, and where its file is."),
        "open": ("student", "Open an exercise in your editor, by default the next one."),
        "run": ("run", "Grade exercises, print what to fix, and say what to do next."),
        "watch": ("student", "Grade an exercise each time you save its file."),
        "web": ("web", "Show the course in a browser, or the class graded into OUT."),
        "try": ("student", "Run the lines that a failing check gives you to try."),
        "hint": ("student", "Show the next of three hints; hints cost no points."),
        "show": ("student", "Show the task of an exercise, by default of the next one."),
        "list": ("student", "List the exercises with states and points."),
    },
    "Learning": {
        "reset": ("student", "Restore the starter; your file stays beside it."),
        "update": ("student", "Bring the course's corrections to your folder."),
        "pack": ("student", "Pack a hand-in into one zip, and print a receipt."),
        "drill": ("games", "Answer short questions on what a line does; the lines are run to see who is right."),
        "break": ("games", "Plant a fault in your own solution, for you to find."),
        "catch": ("games", "Try your own check on known wrong and right answers."),
        "draw": ("games", "Draw how shapes broadcast, or how strides read a storage."),
        "explain": ("games", "Run a script of your own, and explain an error of PyTorch with a picture."),
        "trace": ("games", "Draw what your code does on the simulated GPU."),
        "doctor": ("doctor", "Check your course, this computer and its sandbox."),
        "stop": ("student", "Stop the background processes that make the next command faster."),
    },
    "Teaching": {
        "batch": (
            "batch",
            "Grade a folder of submissions: one for each author, or a download of Canvas, Moodle, Gradescope.",
        ),
        "report": ("report", "Show how the class graded into OUT did, and which answers no known mistake explains."),
        "similar": (
            "report",
            "List pairs of submissions that have much code in common, in OUT/similar.html, to read side by side.",
        ),
        "diff": (
            "report",
            "Show what the last regrade into OUT changed, and what staff did, by overrides.csv and void checks.",
        ),
        "export": ("report", "Write a report in the format of another program."),
        "term": (
            "report",
            "Join the hand-ins graded into OUT... to one gradebook of the term, by course.yaml's weights and policy.",
        ),
        "gather": ("report", "Make one gradebook of all reports below DIR."),
        "forget": ("report", "Remove all that OUT has of an author: results, files, reports, pages, rows of tables."),
        "release": ("author", "Write the students' copy of a course into DEST."),
    },
    "CI and authoring": {
        "ci": ("ci", "Grade a checkout in a CI job."),
        "init-ci": ("ci", "Write the files that a CI platform needs."),
        "package": ("ci", "Make a Gradescope autograder."),
        "clone": (
            "ci",
            "Clone the repositories that LIST names, one on each line, into DIR: a folder for each, for grade batch.",
        ),
        "new": ("author", "Lay out a new exercise or a new course."),
        "verify": (
            "author",
            "Prove that checks are right: starters earn nothing, right answers pass, wrong ones fail.",
        ),
        "pages": ("author", "Write pages about the course into DIR."),
    },
}
"""The commands in the order of `grade --help`, each with its module and its sentence; so the help imports no command.

`diff` of `report` is `diff_command` there, whose own help begins with the same sentence.
"""

COMMANDS = {name: module for group in GROUPS.values() for name, (module, _) in group.items()}


HANDED_OVER = "handed over"
"""The object of a context whose command runs in a fork of a process that was left ready."""

_RUNS_READY = (_GRADE, "next", "hint", "show", "list", "--help", "-h", "--version")
"""The first words of commands that run there."""

_SAME = {"edit": ["open"], "test": [_GRADE], "version": ["--version"], "solution": ["show", "--reference"]}
"""What people type, and the words that do it."""

_INSTEAD = {"submit": "nothing is sent from here:  grade pack  writes the file that you hand in, and says where it is"}
"""What people type, and what they can do."""


class _Commands(click.Group):
    """A group whose commands are imported when they are used; a word that is not a command is an exercise."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, without importing their modules."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of this name, and return it; None if it does not exist."""
        return _import_command(cmd_name) if cmd_name in COMMANDS else None

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and print an error of ours or of the course's without a traceback.

        An error ends the process with the error's status.
        """
        from grader.report.console import errors_as_lines

        with errors_as_lines():
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments, which are those of `run` if they do not begin with a command.

        `grade masks` means `grade run masks`, `grade edit masks` means `grade open masks`, and `grade help pack` means
        `grade pack --help`. A command that a ready process cannot run is handed back to the user's process; see
        `hand_back`.
        """
        if args and args[0] in _INSTEAD:
            from grader.model.errors import CourseError
            from grader.report.console import errors_as_lines

            with errors_as_lines():
                raise CourseError(_INSTEAD[args[0]])
        if args and args[0] in _SAME:
            args = [*_SAME[args[0]], *args[1:]]
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        if not args or (args[0] not in COMMANDS and args[0] not in ("--help", "-h", "--version")):
            args = [_GRADE, *args]
        if args[0] not in _RUNS_READY:
            hand_back(ctx)
        try:
            return super().parse_args(ctx, args)
        except click.ClickException:
            # Imported here, so that the help does not pay for it.
            from grader.report.console import errors_as_lines

            with errors_as_lines():
                raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in groups, then the options of grading.

        Grading is the command that is typed without a name.
        """
        width = len(_GRADING)
        for title, names in GROUPS.items():
            rows = [(_GRADING if name == _GRADE else name, text) for name, (_, text) in names.items()]
            with formatter.section(title):
                formatter.write_dl([(f"{name:{width}}", text) for name, text in rows], col_max=width)
        options = [
            item for item in (*_import_command(_GRADE).params, *self.get_params(ctx)) if isinstance(item, click.Option)
        ]
        with formatter.section(f"Options of grade {_GRADING}"):
            formatter.write_dl([row for option in options if (row := option.get_help_record(ctx))])


def hand_back(ctx: click.Context | None = None) -> None:
    """Hand the command back to the process that the user started.

    A command may run in a fork of a process that an earlier command left ready. Such a fork exits here with the status
    `HANDED_BACK`, and the user's process runs the command itself. In the user's process, this does nothing.

    Args:
        ctx: the context of the command; by default the current one.
    """
    if (ctx or click.get_current_context()).find_root().obj == HANDED_OVER:
        from grader.runner.hand_over import HANDED_BACK

        sys.exit(HANDED_BACK)


def _import_command(name: str) -> click.Command:
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
    from grader.report.console import refuses_colours

    if refuses_colours():
        click.get_current_context().color = False
    # A console that cannot show a character shows its code instead of failing.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
