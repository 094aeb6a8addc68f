"""`grade trace EXERCISE`: what it does on the simulated accelerator, as a file that Perfetto and Chrome open."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.courses import course_and_exercises
from grader.cli.options import complete_exercises, plain_option, read_setup, start_option
from grader.cli.printing import Say, drawing, errors_as_lines, terminal_width


@click.command()
@click.argument("name", metavar="EXERCISE", shell_complete=complete_exercises)
@click.option("--code", metavar="LINES", help="Lines to run in place of the checks, with the names of your file.")
@click.option("--out", type=click.Path(path_type=Path), help="Where to write; by default EXERCISE.trace.json.")
@plain_option
@start_option
def command(name: str, code: str | None, out: Path | None, plain: bool, start: str | None) -> None:
    """Draw what your code does on the simulated accelerator, and write it as a trace for Perfetto and Chrome."""
    say = Say()
    with errors_as_lines():
        import json

        from grader.course.names import one_exercise
        from grader.model import Picture
        from grader.model.errors import CourseError
        from grader.model.files import write_whole
        from grader.report.lines import filled
        from grader.report.pictures import lines_of
        from grader.report.pictures.timeline import trace_of
        from grader.report.safe import for_terminal
        from grader.student.trace import MOST_DRAWN, traces

        course, _ = course_and_exercises(())
        exercise = one_exercise(course, name)
        path = out or Path(f"{exercise.id}.trace.json")
        found, problems = traces(course, exercise, read_setup(start), code)
        width, shown = terminal_width(), drawing(plain=plain)
        for run in (run for run in found if run.moments):
            say(for_terminal(run.title, one_line=True)[:width])
            first, rest = run.moments[:MOST_DRAWN], len(run.moments) - MOST_DRAWN
            for line in lines_of(Picture(moments=first, left_out=max(0, rest)), width - 2, shown):
                safe = for_terminal(line, one_line=True)
                say(*(filled(safe.split(" "), "  ", width) if shown.plain else [f"  {safe}"]))
            say()
        for problem in problems:
            say(*(line for text in for_terminal(problem).split("\n") for line in filled(text.split(" "), "", width)))
        if not any(run.moments for run in found):
            raise CourseError("nothing was done on the device; try lines of your own with --code")
        try:
            write_whole(path, json.dumps(trace_of(found), indent=1) + "\n")
        except OSError as error:
            raise CourseError(f"{path} cannot be written: {error.strerror}; name another place with --out") from None
        say(f"{path}: open it at https://ui.perfetto.dev or in chrome://tracing; times are virtual")
