"""`grade pages DIR`: pages about a course, generated."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from grader.cli.courses import course_and_exercises
from grader.cli.options import Workers, workers_options
from grader.cli.printing import Say, write_file

MAP, MESSAGES = "course-map.md", "messages.md"


@click.command("pages")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.argument("names", metavar="[EXERCISE]...", nargs=-1)
@click.option("--map-only", is_flag=True, help="Only the map, for which nothing is run.")
@workers_options()
def pages_command(folder: Path, names: tuple[str, ...], map_only: bool, workers: Workers) -> None:
    """Write a map of the course, and for staff what students read of each known wrong answer, into DIR."""
    from grader.author.pages import map_page, messages_page
    from grader.course.topics import Coverage
    from grader.grading.lanes import open_lanes

    course, exercises = course_and_exercises(names, whole=True)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / MAP, map_page(course, Coverage.of(course)))
    if map_only:
        return
    Say()("running the known wrong answers ...")
    setup = workers.setup()
    with open_lanes(exercises, setup) as lanes:
        _write(folder / MESSAGES, messages_page(course, exercises, setup, lanes))


def _write(path: Path, lines: Iterable[str]) -> None:
    write_file(path, "\n".join(lines).rstrip("\n") + "\n")
    Say()(f"wrote {path.as_posix()}")
