"""A course → its copy for students: proved, written beside its place, and only then put into it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from grader.course.layout import ZIP, Places
from grader.course.load import load_course
from grader.grading.behaviour import as_file
from grader.grading.lanes import open_lanes
from grader.model import Course, HandIn
from grader.model.errors import CourseError
from grader.model.files import EPOCH_SECONDS, failing_as, zip_bytes
from grader.model.messages import Setup
from grader.model.score import points_text
from grader.release.answers import Facts, facts_of, mistakes_of
from grader.release.contents import Files, chosen, copied_files, page_files, yaml_files
from grader.release.proof import prove, prove_sentences, secrets_of


def release(
    course: Course,
    handin: HandIn | None,
    setup: Setup,
    place: Path,
    *,
    zipped: bool,
    notebooks: bool = False,
    say: Callable[[str], None],
    meanwhile: Callable[[str], None] = lambda line: None,
) -> Path:
    """Write a copy, and give its place.

    Args:
        course: the whole course.
        handin: whose exercises it is to have; None for all.
        setup: how known answers are run.
        place: the folder that it becomes; with `zipped` a file of that name, which ends in .zip.
        zipped: whether it becomes one file.
        notebooks: whether it has a notebook for each module, too.
        say: prints what goes on and what was written, a line at a time.
        meanwhile: shows the progress.

    Raises:
        CourseError: the place cannot be used, or the course is not ready to be given out.
        LeakError: the copy has what only staff may have; nothing is left of it.
    """
    if zipped and place.suffix != ZIP:
        place = place.with_name(place.name + ZIP)
    _refuse(course, place, zipped=zipped)
    part = chosen(course, handin)
    if not any(exercise.reference or exercise.hidden_checks for exercise in part.exercises):
        raise CourseError(f"{part.root} has no solutions and no hidden checks: it is a copy; go to the course")
    files = copied_files(part)
    say(f"running the known answers of {len(part.exercises)} exercises on the shown checks")
    facts: dict[str, Facts] = {}
    secrets = tuple(secrets_of(course))
    with open_lanes(part.exercises, setup) as lanes:
        for number, exercise in enumerate(part.exercises):
            meanwhile(f"{number} of {len(part.exercises)} exercises")
            facts[exercise.id] = facts_of(exercise, lanes, setup)
            sealed, sentences = mistakes_of(exercise, lanes)
            if sealed:
                path = Places.of(exercise).mistakes.as_posix()
                # Once they are sealed, they cannot be searched.
                prove_sentences(path, sentences, secrets)
                files[path] = as_file(sealed)
    files |= yaml_files(part, facts)
    files |= page_files(part, facts, notebooks=notebooks)
    prove(files, secrets)
    _put(place, files, zipped=zipped)
    withheld = [fact.withheld for fact in facts.values()]
    hidden, decided = sum(row.checks for row in withheld), points_text(sum(row.points for row in withheld))
    say(f"{len(files)} files; none has any of {len(secrets)} parts of staff's files")
    points = points_text(sum(exercise.points for exercise in part.exercises))
    say(f"{hidden} hidden checks stay here and decide {decided} of {points} points")
    return place


def _refuse(course: Course, place: Path, *, zipped: bool) -> None:
    """Refuse a place that cannot be used, before anything is run."""
    where, root = place.resolve(), course.root.resolve()
    if where == root or root in where.parents:
        raise CourseError(f"{place} is in the course itself, beside the solutions; name a place elsewhere")
    is_folder = place.is_dir() and not place.is_symlink() and not zipped
    if os.path.lexists(place) and (not is_folder or any(place.iterdir()) or where == Path.cwd().resolve()):
        raise CourseError(f"{place} exists; a copy needs a new or an empty folder elsewhere, or a new file")
    if not where.parent.is_dir() or not os.access(where.parent, os.W_OK):
        raise CourseError(f"{place}: there is no folder {where.parent} to write into; make it first")


def _put(place: Path, files: Files, *, zipped: bool) -> None:
    """Write a draft beside the place, read it back, and give it its name in one step."""
    parent = place.resolve().parent
    with (
        failing_as(f"{place} could not be written", "nothing is left of it; name another place"),
        tempfile.TemporaryDirectory(prefix=".release-", dir=parent, ignore_cleanup_errors=True) as folder,
    ):
        draft = Path(folder)
        made = draft / place.name
        _write_folder(made, files)
        load_course(made)  # what is given out is a course
        there = {path.relative_to(made).as_posix(): path for path in made.rglob("*") if not path.is_dir()}
        if {name: path.read_bytes() for name, path in there.items()} != files:
            raise CourseError(f"{place}: what was written is not what was proved; name a place on another disk")
        if zipped:
            made = draft / "archive"
            made.write_bytes(zip_bytes({f"{place.stem}/{path}": data for path, data in files.items()}))
            made.chmod(0o644)
        elif place.is_dir():
            place.rmdir()  # an empty one, which not every system puts another in the place of
        os.replace(made, place)


def _write_folder(folder: Path, files: Files) -> None:
    """Write files with one mode and one time, and folders too."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    # The inner ones first: to change what is in a folder changes its time.
    for path in sorted((folder, *folder.rglob("*")), reverse=True):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (EPOCH_SECONDS, EPOCH_SECONDS))
