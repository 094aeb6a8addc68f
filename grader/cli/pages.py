"""`grade pages DIR`: pages about a course, generated."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from grader.cli.options import device_option, read_setup, start_option
from grader.cli.telling import Say, course_and_exercises, told_errors

MAP, MESSAGES = "course-map.md", "messages.md"


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.argument("names", metavar="[EXERCISE]...", nargs=-1)
@click.option("--map-only", is_flag=True, help="Only the map, for which nothing is run.")
@device_option
@start_option
def command(folder: Path, names: tuple[str, ...], map_only: bool, device: str, start: str | None) -> None:
    """Write a map of the course, and for staff what students read of each known wrong answer, into DIR."""
    say = Say()
    with told_errors():
        from grader.author.pages import map_page, messages_page
        from grader.author.runs import Runs
        from grader.course.topics import Coverage
        from grader.grading.lanes import open_lanes
        from grader.grading.store import open_store

        course, exercises = course_and_exercises(names, whole=True)
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / MAP, map_page(course, Coverage.of(course)), say)
        if map_only:
            return
        say("running the known wrong answers ...")
        setup = read_setup(start, device)
        with open_store(None) as store, open_lanes(exercises, setup) as lanes:
            _write(folder / MESSAGES, messages_page(Runs(course, setup, store, told=True), lanes, exercises), say)


def _write(path: Path, lines: Iterable[str], say: Say) -> None:
    # In whole before the file is opened: an error on the way leaves the old page.
    text = "\n".join(lines).rstrip("\n") + "\n"
    path.write_text(text, encoding="utf-8")
    say(f"wrote {path.as_posix()}")
