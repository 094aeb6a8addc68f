"""A course → its copy for students: proved, written beside its place, and only then put into it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.course.layout import ZIP, Places
from grader.course.load import load_course
from grader.grading.behaviour import as_file
from grader.grading.lanes import Lanes, open_lanes
from grader.model import Course, Exercise, HandIn
from grader.model.errors import CourseError
from grader.model.files import EPOCH_SECONDS, failing_as, zip_bytes
from grader.model.messages import Setup
from grader.release.answers import Facts, facts_of, mistakes_of
from grader.release.contents import Files, chosen, copied_files, page_files, yaml_files
from grader.release.proof import Secret, prove, prove_sentences, secrets_of


@dataclass(frozen=True)
class Released:
    """What was written.

    Attributes:
        place: the folder or the zip.
        files: how many files it has.
        secrets: for how many parts of staff's files it was searched.
        withheld: how many hidden checks it does not have.
        hidden_points: hundredths of a point that these decide.
        points: hundredths of a point of all its exercises.
    """

    place: Path
    files: int
    secrets: int
    withheld: int
    hidden_points: int
    points: int


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
) -> Released:
    """Write a copy.

    Args:
        course: the whole course.
        handin: whose exercises it is to have; None for all.
        setup: how known answers are run.
        place: the folder that it becomes; with `zipped` a file of that name, which ends in .zip.
        zipped: whether it becomes one file.
        notebooks: whether it has a notebook for each module, too.
        say: prints what goes on, a line at a time.
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
            files |= _mistakes(exercise, lanes, secrets)
    files |= yaml_files(part, facts)
    files |= page_files(part, facts, notebooks=notebooks)
    prove(files, secrets)
    _put(place, files, zipped=zipped)
    withheld = sum(fact.withheld.checks for fact in facts.values())
    hidden_points = sum(fact.withheld.points for fact in facts.values())
    points = sum(exercise.points for exercise in part.exercises)
    return Released(place, len(files), len(secrets), withheld, hidden_points, points)


def _mistakes(exercise: Exercise, lanes: Lanes, secrets: Sequence[Secret]) -> Files:
    """The file of an exercise's known mistakes, if shown checks recognize any."""
    sealed, sentences = mistakes_of(exercise, lanes)
    if not sealed:
        return {}
    path = Places.of(exercise).mistakes.as_posix()
    # Once they are sealed, they cannot be searched.
    prove_sentences(path, sentences, secrets)
    return {path: as_file(sealed)}


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
    folders = {folder}
    for name, data in sorted(files.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        folders |= {parent for parent in path.parents if parent.is_relative_to(folder)}
        path.write_bytes(data)
        path.chmod(0o644)
        os.utime(path, (EPOCH_SECONDS, EPOCH_SECONDS))
    for made in sorted(folders, reverse=True):  # the inner ones first: to write into a folder changes its time
        made.chmod(0o755)
        os.utime(made, (EPOCH_SECONDS, EPOCH_SECONDS))
