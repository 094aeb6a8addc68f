"""`grade new MODULE/EXERCISE`: lay out an exercise or a course."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.telling import Say, told_errors


@click.command()
@click.argument("name", metavar="MODULE/EXERCISE", required=False)
@click.option("--course", "course_folder", type=click.Path(path_type=Path), help="Start a course of your own there.")
@click.option("--schemas", type=click.Path(path_type=Path), help="Write JSON Schemas of the YAML files there.")
def command(name: str | None, course_folder: Path | None, schemas: Path | None) -> None:
    """Lay out an exercise, or a course, that lacks only what its author must write."""
    say = Say()
    with told_errors():
        from grader.course.layout import find_course, refuse_given
        from grader.course.scaffold import new_course, new_exercise, write_schemas
        from grader.model.errors import CourseError

        written = []
        if course_folder:
            written += new_course(course_folder)
        if schemas:
            written += write_schemas(schemas)
        if name:
            root = find_course((course_folder or Path.cwd()).resolve())
            refuse_given(root, "new")
            written += new_exercise(root, name)
        if not written:
            raise CourseError("say what to lay out: MODULE/EXERCISE, --course DIR or --schemas DIR")
        say(*(f"wrote {_from_here(path)}" for path in written))
        if name:
            say(f"Next: replace the example and what is marked TODO, then run  grade verify {name.split('/')[-1]}")


def _from_here(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
