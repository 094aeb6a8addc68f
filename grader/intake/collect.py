"""What one author handed in → Submission: for each exercise that is asked for, the one file that counts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from grader.course.layout import is_course, is_ours
from grader.course.starter import is_starter
from grader.course.suffixes import NOTEBOOK, ZIP
from grader.intake.contents import CANNOT_OPEN, Contents, contents_of
from grader.intake.folder import digest_of, read_submission
from grader.intake.handed import Handed, Part, Unmatched
from grader.intake.match import CODE, attempt_of, by_contents, named
from grader.intake.notebook import Module, modules_of
from grader.intake.packages import with_packages
from grader.model import Exercise, Submission
from grader.model.errors import SubmissionError

_MOST_SIBLINGS = 50
_MOST_SIBLING_BYTES = 1 << 20  # all together
_MOST_ATTEMPTS = 5


@dataclass(frozen=True)
class _Candidate:
    """A file that an exercise could be graded by.

    Attributes:
        path: as it was handed in.
        source: of the module.
        how: in words, where its name alone does not say it; "" where it does.
        number: how often it had been downloaded or handed in before, as its name says.
        by_name: whether its name says what it is.
        module: of a notebook, what is known of its lines.
    """

    path: PurePosixPath
    source: bytes
    how: str = ""
    number: int = 0
    by_name: bool = True
    module: Module | None = None


def collect(
    handed: Handed, course: Sequence[Exercise], asked: Sequence[Exercise], *, every: bool = False
) -> tuple[list[Submission], list[Unmatched]]:
    """Read what an author handed in.

    Args:
        handed: what it is.
        course: all exercises of the course: a file of one that is not asked for is of that one, and of no other.
        asked: those that are graded.
        every: whether earlier attempts are wanted too.

    Returns:
        the submission that counts, then those of earlier attempts, each with the exercises that have so many; and what
        could not be matched.
    """
    contents = contents_of(handed)
    found, unmatched = _candidates(handed, contents, course)
    ordered = {exercise.id: _ordered(exercise, found.get(exercise.id, [])) for exercise in asked}
    most = max(1, *map(len, ordered.values())) if every and ordered else 1
    submissions = [_submission(handed, contents, asked, ordered, place) for place in range(min(most, _MOST_ATTEMPTS))]
    unmatched += _left(handed, contents, asked, nothing=not any(found.values()))
    return submissions, unmatched


def collect_one(path: Path, course: Sequence[Exercise], asked: Sequence[Exercise], author: str) -> Submission:
    """Read what lies at a path, which is one author's: a folder, a zip or a single file.

    In a folder the files that are named and laid out as asked count; for what is missing then, whatever else is there.

    Args:
        path: where it lies.
        course: all exercises of the course.
        asked: those that are graded.
        author: whose it is.

    Raises:
        SubmissionError: nothing is there.
    """
    if not path.exists():
        raise SubmissionError(f"{path} is neither a folder with a submission nor a file")
    whole = path.is_dir()
    part = Part(path) if whole else Part(path, PurePosixPath(path.name))
    found = read_submission(path, asked, author) if whole else Submission(author, {}, {}, {}, "")
    missing = [exercise for exercise in asked if exercise.id not in found.paths]
    if not missing or is_course(path):
        return found
    (others, *_), _ = collect(Handed(author, (author,), (part,)), course, missing)
    files = {**found.files, **others.files}
    return replace(
        others,
        files=files,
        paths={**found.paths, **others.paths},
        problems={**{id: why for id, why in found.problems.items() if id in found.paths}, **others.problems},
        digest=digest_of(files),
        unread=found.unread,
        root=found.root,
        authors=(),
    )


def _candidates(
    handed: Handed, contents: Contents, course: Sequence[Exercise]
) -> tuple[dict[str, list[_Candidate]], list[Unmatched]]:
    """The files of each exercise, and those of none."""
    known = {exercise.id: exercise for exercise in course}
    found: dict[str, list[_Candidate]] = {}
    rest: list[PurePosixPath] = []
    unmatched: list[Unmatched] = []
    for path, data in contents.files.items():
        if path.suffix.lower() == NOTEBOOK:
            try:
                modules = modules_of(data, path.name, course)
            except ValueError as error:
                unmatched.append(Unmatched(str(path), handed.key, str(error)))
                continue
            if not modules:
                unmatched.append(Unmatched(str(path), handed.key, "no cell in it says which exercise it is of"))
            name = named(path.name, course)
            for id, module in modules.items():
                number = name.number if name else 0
                # Cells that nobody has touched are the starter, whatever stands in those that are of all exercises.
                source = module.own if is_starter(known[id], module.own) else module.source
                found.setdefault(id, []).append(_Candidate(path, source, "a notebook", number, True, module))
        elif is_ours(path.name):
            continue
        elif name := named(path.name, course):
            how = "" if name.exact else "by its name"
            found.setdefault(name.exercise, []).append(_Candidate(path, data, how, name.number))
        else:
            rest.append(path)
    # A file beside one that counts is a module of the student's own, and comes along; or one of a package.
    along = {
        one.path.parent / name
        for own in found.values()
        for one in own
        for name in _siblings(contents, one.path, one.source)
    }
    for path in rest:
        id, how = by_contents(contents.files[path], course)
        if id and not found.get(id, [_Candidate(path, b"", by_name=False)])[0].by_name:
            found.setdefault(id, []).append(_Candidate(path, contents.files[path], how, by_name=False))
        elif path not in along:
            unmatched.append(Unmatched(str(path), handed.key, how if not id else f"{id} has a file of its own name"))
    return found, unmatched


def _ordered(exercise: Exercise, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The file that counts first: one that was touched, the latest by its name, the one that lies highest.

    Of names that differ in case alone the very name that was asked for counts.
    """

    def place(one: _Candidate) -> tuple[bool, int, int, bool, int, bool, str]:
        untouched = is_starter(exercise, one.source)
        later = -one.number, -attempt_of(one.path)
        return (untouched, *later, one.module is not None, len(one.path.parts), bool(one.how), str(one.path))

    different = {one.source: one for one in sorted(candidates, key=place, reverse=True)}
    return sorted(different.values(), key=place)


def _submission(
    handed: Handed,
    contents: Contents,
    asked: Sequence[Exercise],
    ordered: dict[str, list[_Candidate]],
    place: int,
) -> Submission:
    """The submission of the attempts at one place of their order."""
    files: dict[str, dict[str, bytes]] = {}
    paths: dict[str, Path] = {}
    problems: dict[str, str] = {}
    notes: dict[str, tuple[str, ...]] = {}
    cells: dict[str, tuple[tuple[int, int], ...]] = {}
    for exercise in asked:
        own = ordered[exercise.id]
        if place >= len(own):
            if place == 0:
                problems[exercise.id], unread = _problem(exercise, contents)
                if unread is not None:
                    paths[exercise.id] = contents.disk[unread]
            continue
        one = own[place]
        siblings = _siblings(contents, one.path, one.source, {other.path for other in own})
        files[exercise.id] = {exercise.file_name: one.source, **siblings}
        paths[exercise.id] = contents.disk[one.path]
        notes[exercise.id] = tuple(_notes(handed, one, own))
        if one.module:
            cells[exercise.id] = one.module.places
    return Submission(
        handed.key,
        files,
        paths,
        problems,
        digest_of(files),
        authors=handed.authors,
        notes={id: own for id, own in notes.items() if own},
        cells=cells,
    )


def _notes(handed: Handed, one: _Candidate, own: Sequence[_Candidate]) -> Iterator[str]:
    others = [str(other.path) for other in own if other is not one]
    if one.how or others:
        how = f", {one.how}" if one.how else ""
        yield f"taken from {one.path}{how}" + (f"; not read: {', '.join(others)}" if others else "")
    if one.module:
        yield from one.module.notes
    if handed.note:
        yield handed.note


def _siblings(
    contents: Contents, path: PurePosixPath, source: bytes, candidates: Collection[PurePosixPath] = ()
) -> dict[str, bytes]:
    """The Python files beside one, and packages that it imports, so that a student's own modules can be imported."""
    found: dict[PurePosixPath, bytes] = {}
    room = _MOST_SIBLING_BYTES
    # Those beside it first: below it there may be all that its author ever wrote.
    for other, data in sorted(contents.files.items(), key=lambda row: (len(row[0].parts), row[0])):
        below = path.parent in other.parents and other.suffix == ".py" and other not in candidates
        if not below or is_ours(other.name) or len(data) > room or len(found) >= _MOST_SIBLINGS:
            continue
        found[other.relative_to(path.parent)] = data
        room -= len(data)
    return with_packages(source, found)


def _problem(exercise: Exercise, contents: Contents) -> tuple[str, PurePosixPath | None]:
    """Why there is no file of an exercise, and what was handed in that could not be read."""
    unread = next((path for path in contents.left if path.name == exercise.file_name), None)
    if unread is not None:
        return f"{exercise.file_name} cannot be read: {contents.left[unread]}", unread
    # Where nothing at all came out of a broken zip, that is what its author wants to know.
    broken = next((path for path in contents.left if path.suffix.lower() == ZIP), None)
    if broken is not None and not contents.files:
        return contents.left[broken], broken
    return f"{exercise.file_name} is not among the submitted files", None


def _left(handed: Handed, contents: Contents, asked: Sequence[Exercise], *, nothing: bool) -> Iterator[Unmatched]:
    """What was not read: of somebody with no file at all everything, else what may have been meant as an answer."""
    meant = (*CODE, ZIP, *CANNOT_OPEN)
    for path, why in contents.left.items():
        if nothing or path.suffix.lower() in meant:
            yield Unmatched(str(path), handed.key, why)
    if handed.parts and nothing and not contents.left and not contents.files:
        yield Unmatched("", handed.key, "nothing is in it")
