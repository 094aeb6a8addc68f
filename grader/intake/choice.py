"""The files of one author → Submission: for each exercise that is graded, the one file that counts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.course.answers import is_starter
from grader.course.layout import NOTEBOOK, Places, is_ours
from grader.intake import match
from grader.intake.archive import is_packed
from grader.intake.code import fault
from grader.intake.contents import LATE, Contents, Handed, Unmatched
from grader.intake.match import Version, named
from grader.intake.notebook import Module, modules_of, written_files
from grader.model import Exercise, Submission
from grader.model.report import ExerciseFiles

_MOST_SIBLINGS = 50
_MOST_SIBLING_BYTES = 1 << 20  # all together
_MOST_ATTEMPTS = 5
_UNNAMED = Version()


@dataclass(frozen=True)
class _Candidate:
    """A file that an exercise could be graded by.

    Attributes:
        path: as it was handed in.
        source: of the module.
        how: in words, where its name alone does not say it; "" where it does.
        version: as its name says.
        module: of a notebook, what is known of its lines.
    """

    path: PurePosixPath
    source: bytes
    how: str = ""
    version: Version = _UNNAMED
    module: Module | None = None


def submissions_of(
    handed: Handed,
    course: Sequence[Exercise],
    wanted: Sequence[Exercise],
    *,
    every: bool = False,
    root: Path | None = None,
    direct: bool = False,
) -> tuple[list[Submission], list[Unmatched]]:
    """Read what an author handed in.

    Args:
        handed: what it is.
        course: all exercises of the course: a file of one that is not wanted is of that one, and of no other.
        wanted: those that are graded.
        every: whether earlier attempts are wanted too.
        root: the folder that it is, where that is known.
        direct: whether archives stay closed.

    Returns:
        the submission that counts, then those of earlier attempts, each with the exercises that have so many; and what
        could not be matched.
    """
    contents = Contents(handed.parts, match.is_answer_of(course), direct=direct)
    candidates, left = _candidates(contents, course)
    ordered = {exercise.id: _ordered(exercise, candidates.get(exercise.id, [])) for exercise in wanted}
    most = max(1, *map(len, ordered.values())) if every and ordered else 1
    submissions = [
        _submission(handed, contents, wanted, ordered, attempt, root) for attempt in range(min(most, _MOST_ATTEMPTS))
    ]
    # Of an author with no file of an exercise everything that was not read, else what may have been meant as an answer.
    left += contents.left.items() if any(candidates.values()) else (contents.left | contents.others).items()
    rows = [Unmatched(str(path), handed.key, why) for path, why in left]
    if handed.parts and not left and not contents.files:
        rows.append(Unmatched("", handed.key, "nothing is in it"))
    return submissions, rows


def _candidates(
    contents: Contents, course: Sequence[Exercise]
) -> tuple[dict[str, list[_Candidate]], list[tuple[PurePosixPath, str]]]:
    """The files of each exercise, and those of none with the reason."""
    candidates: dict[str, list[_Candidate]] = {}
    rest: list[PurePosixPath] = []
    left: list[tuple[PurePosixPath, str]] = []
    _add_written(contents)
    for path, data in contents.files.items():
        if path.suffix.lower() == NOTEBOOK:
            try:
                own = _in_notebook(path, data, course)
            except ValueError as error:
                contents.left[path] = str(error)
                continue
            except Exception as error:  # of any kind, as a stranger made it
                contents.left[path] = fault(error)
                continue
            if not own:
                left.append((path, "no cell in it says which exercise it is of"))
            for id, one in own.items():
                candidates.setdefault(id, []).append(one)
        elif name := named(path.name, course):
            how = "" if path.name == f"{name.exercise}.py" else "by its name"
            candidates.setdefault(name.exercise, []).append(_Candidate(path, data, how, name.version))
        elif not is_ours(path.name):
            rest.append(path)
    # A file beside one that counts is a module of the student's own, and comes along; or one of a package.
    known = [one for own in candidates.values() for one in own] if rest else []
    along = {one.path.parent / name for one in known for name in _siblings(contents, one)}
    by_name = set(candidates)
    for path in rest:
        id, how = match.by_contents(contents.files[path], course)
        if id and id not in by_name:
            candidates.setdefault(id, []).append(_Candidate(path, contents.files[path], how))
        elif path not in along:
            left.append((path, f"{id} has a file of its own name" if id else how))
    return candidates, left


def _add_written(contents: Contents) -> None:
    """Add the Python files that the cells of notebooks write beside these, where they were not handed in."""
    for path, data in [*contents.files.items()]:
        if path.suffix.lower() == NOTEBOOK:
            for name, text in written_files(data).items():
                contents.files.setdefault(path.with_name(name), text)
                contents.disk.setdefault(path.with_name(name), contents.disk[path])


def _in_notebook(path: PurePosixPath, data: bytes, course: Sequence[Exercise]) -> dict[str, _Candidate]:
    """What a notebook has of each exercise.

    Raises:
        ValueError: it is not a notebook.
    """
    known = {exercise.id: exercise for exercise in course}
    name = named(path.name, course)
    version = name.version if name else _UNNAMED
    candidates = {}
    for id, module in modules_of(data, path.name, course).items():
        # Cells that were not touched are the starter, also if those of all exercises were changed.
        source = module.own if is_starter(known[id], module.own) else module.source
        candidates[id] = _Candidate(path, source, "a notebook", version, module)
    return candidates


def _ordered(exercise: Exercise, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The file that counts first: one that was touched, the latest by its name, then the one at the course's place.

    Files come before notebooks and before what is in archives. Else the one that lies highest counts; of names that
    differ in case alone, the one that the course gives.
    """
    home = Places.of(exercise).starter.parts

    def place(one: _Candidate) -> tuple[object, ...]:
        later = [-number for number in (*one.version, match.attempt_of(one.path))]
        packed = any(is_packed(above.name) for above in one.path.parents)
        parts, at_home = one.path.parts, one.path.parts[-len(home) :] == home
        where = (one.module is not None, packed, not at_home, len(parts), bool(one.how), str(one.path))
        return (is_starter(exercise, one.source), *later, *where)

    different = {one.source: one for one in sorted(candidates, key=place, reverse=True)}
    return sorted(different.values(), key=place)


def _submission(
    handed: Handed,
    contents: Contents,
    wanted: Sequence[Exercise],
    ordered: Mapping[str, Sequence[_Candidate]],
    attempt: int,
    root: Path | None,
) -> Submission:
    """The submission of the candidates at one place of their order."""
    exercises: dict[str, ExerciseFiles] = {}
    for exercise in wanted:
        own = ordered[exercise.id]
        if attempt < len(own):
            exercises[exercise.id] = _read(exercise, own[attempt], own, contents, root, late=handed.late)
        elif attempt == 0:
            problem, unread = _problem(exercise, contents, wanted)
            exercises[exercise.id] = ExerciseFiles(path=contents.disk[unread] if unread else None, problem=problem)
    return Submission(handed.key, exercises, digest_of(exercises), root, handed.authors)


def _read(
    exercise: Exercise, one: _Candidate, own: Sequence[_Candidate], contents: Contents, root: Path | None, *, late: bool
) -> ExerciseFiles:
    """The files of an exercise; where reading them fails, why: that costs no other exercise and no other author."""
    try:
        return _files_of(exercise, one, own, contents, root, late=late)
    except Exception as error:  # of any kind, as strangers wrote them
        return ExerciseFiles(path=contents.disk[one.path], problem=f"{one.path} cannot be read: {fault(error)}")


def _files_of(
    exercise: Exercise, one: _Candidate, own: Sequence[_Candidate], contents: Contents, root: Path | None, *, late: bool
) -> ExerciseFiles:
    """The files of an exercise whose module is this one of several."""
    path = contents.disk[one.path]
    is_file = one.module is None
    typed = Path(os.path.relpath(path)).as_posix() if is_file else exercise.file_name
    untouched = is_starter(exercise, one.source)
    return ExerciseFiles(
        {exercise.file_name: one.source, **_siblings(contents, one, {other.path for other in own})},
        path,
        notes=tuple(_notes(exercise, one, own, contents, late=late)),
        cells=tuple(one.module.origins) if one.module else (),
        untouched=untouched,
        error="" if untouched else match.load_error(one.source, exercise.file_name, typed),
        place=match.place_in(one.source, Path(os.path.relpath(path, root)).as_posix()) if is_file and root else None,
    )


def _notes(
    exercise: Exercise, one: _Candidate, every: Sequence[_Candidate], contents: Contents, *, late: bool
) -> Iterator[str]:
    """What staff should know of where a file came from."""
    if one.how:
        yield f"taken from {one.path}, {one.how}"
    # The starter is in every copy of the course, beside a notebook that was worked on, and the other way round.
    others = [
        str(other.path)
        for other in every
        if other is not one and not (is_starter(exercise, other.source) and (other.module or not other.how))
    ]
    if others:
        yield f"several versions: {one.path} counts, not {', '.join(others)}"
    if one.module:
        yield from one.module.notes
    elif note := match.encoding_note(one.source, exercise.file_name):
        yield note
    for name in _changed_checks(exercise, contents):
        yield f"{name} is not the course's (changed, or of another version): the course's own is used"
    if late:
        yield LATE


def _changed_checks(exercise: Exercise, contents: Contents) -> Iterator[str]:
    """The names of checks and probes in a submission that are not as in the course."""
    shown = [path for path in (exercise.shown_checks, *exercise.probes) if path and path.parent == exercise.folder]
    ours = {path.name: path for path in shown}
    for path, data in contents.files.items():
        if path.name in ours and _text(data) != _text(ours[path.name].read_bytes()):
            yield path.name


def _text(data: bytes) -> bytes:
    """A file without the line ends that git may have changed."""
    return data.replace(b"\r\n", b"\n").rstrip()


def _siblings(contents: Contents, one: _Candidate, others: Collection[PurePosixPath] = ()) -> dict[str, bytes]:
    """The Python files beside a file, and packages that it imports, so that a student's own modules can be imported.

    Those that lie highest come first. The `others` are files of the same exercise, which stay behind.
    """
    along: dict[PurePosixPath, bytes] = {}
    room, folder = _MOST_SIBLING_BYTES, one.path.parent
    for path, data in sorted(contents.files.items(), key=lambda row: (len(row[0].parts), row[0])):
        is_module = path.suffix == ".py" and not is_ours(path.name) and path.is_relative_to(folder)
        fits = len(data) <= room and len(along) < _MOST_SIBLINGS
        if is_module and fits and path != one.path and path not in others:
            along[path.relative_to(folder)] = data
            room -= len(data)
    return match.with_packages(one.source, along)


def _problem(exercise: Exercise, contents: Contents, course: Sequence[Exercise]) -> tuple[str, PurePosixPath | None]:
    """Why there is no file of an exercise, and what was handed in that could not be read."""
    for path, why in contents.left.items():
        name = named(path.name, course)
        if name and name.exercise == exercise.id:
            return f"{exercise.file_name} cannot be read: {why}", path
    # Its author should know about a broken archive.
    missing = f"{exercise.file_name} is not among the submitted files"
    broken = next((path for path in contents.left if is_packed(path.name)), None)
    if broken is None:
        return missing, None
    why = contents.left[broken] if broken.name in contents.left[broken] else f"{broken}: {contents.left[broken]}"
    return (why if not contents.files else f"{missing}; {why}"), broken


def digest_of(exercises: Mapping[str, ExerciseFiles]) -> str:
    """A digest of all files of a submission."""
    digest = hashlib.sha256()
    for id, own in sorted(exercises.items()):
        for name, content in sorted(own.files.items()):
            digest.update(f"{id}/{name}:{len(content)}:".encode("utf-8", "surrogateescape"))
            digest.update(content)
    return digest.hexdigest()
