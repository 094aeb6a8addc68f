"""`grade new MODULE/EXERCISE`: lay out an exercise or a course."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.printing import Say
from grader.model.errors import CourseError
from grader.model.score import counted

if TYPE_CHECKING:
    from grader.author.port.draft import Draft
    from grader.course.layout import Places

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("new")
@click.argument("name", metavar="MODULE/EXERCISE", required=False)
@click.option("--from", "tests", type=_FILE, help="Port this plain pytest file: checks, probes, a starter.")
@click.option("--reference", type=_FILE, help="With --from: a solution, which becomes the reference.")
@click.option("--course", "course_folder", type=click.Path(path_type=Path), help="Start a course of your own there.")
@click.option(
    "--schemas", type=click.Path(path_type=Path), help="Write JSON Schemas of the YAML files and the report there."
)
def new_command(
    name: str | None, tests: Path | None, reference: Path | None, course_folder: Path | None, schemas: Path | None
) -> None:
    """Lay out an exercise, or a course, that lacks only what its author must write."""
    from grader.course.layout import find_course, refuse_given
    from grader.course.scaffold import new_course, new_exercise, write_schemas

    if (tests and not name) or (reference and not tests):
        raise CourseError("--from needs MODULE/EXERCISE, and --reference needs --from")
    # First, because it may refuse: nothing is laid out then.
    draft = _ported(tests, reference) if tests else None
    written = []
    if course_folder:
        written += new_course(course_folder)
    if schemas:
        from grader.model.typed import schema_of
        from grader.report.schema import ReportFile

        written += write_schemas(schemas, {"report.schema.json": schema_of(ReportFile)})
    if name:
        root = find_course((course_folder or Path.cwd()).resolve())
        refuse_given(root, "new")
        written += new_exercise(root, name, (lambda places: _files(draft, places)) if draft else None)
    if not written:
        raise CourseError("say what to lay out: MODULE/EXERCISE, --course DIR or --schemas DIR")
    say = Say()
    say(*(f"wrote {_from_here(path)}" for path in written))
    if draft:
        say(*_left_to_do(draft, written))
    if name:
        what = "do what is listed" if draft else "replace the example and what is marked TODO"
        say(f"Next: {what}, then run  grade verify {name.split('/')[-1]}")


def _ported(tests: Path, reference: Path | None) -> Draft:
    from grader.author.port.draft import Port

    try:
        texts = [path.read_text(encoding="utf-8") if path else "" for path in (tests, reference)]
        return Port(*texts).draft("@title@")
    except (OSError, ValueError) as error:
        raise CourseError(f"{error}; --from and --reference need files of Python in UTF-8") from None


def _files(draft: Draft, places: Places) -> dict[Path, str]:
    texts = {
        places.starter: draft.starter,
        places.reference: draft.reference,
        places.shown_checks: draft.shown,
        places.hidden_checks: draft.hidden,
        places.probes[0 if draft.probe_is_shown else 1]: draft.probe,
    }
    return {path: text for path, text in texts.items() if text}


def _left_to_do(draft: Draft, written: Sequence[Path]) -> Iterator[str]:
    from grader.author.port.draft import todos_of

    shown, hidden, beside = draft.counts
    yield f"ported {counted(shown + hidden, 'test')}: {shown} shown, {hidden} hidden, {beside} by a probe"
    places: dict[tuple[Path, str], list[int]] = {}
    for path in (path for path in written if path.suffix == ".py"):
        for line, todo in todos_of(path.read_text(encoding="utf-8")):
            places.setdefault((path, todo), []).append(line)
    yield f"left to do in {counted(sum(map(len, places.values())), 'place')}:"
    for (path, todo), lines in places.items():
        yield f"  {_from_here(path)}:{','.join(map(str, lines))}: {todo}"


def _from_here(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
