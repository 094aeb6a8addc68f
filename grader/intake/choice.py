"""The files of one author → Submission: for each exercise that is graded, the one file that counts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from grader.course.answers import is_starter
from grader.course.layout import Places, is_check_or_probe, is_course
from grader.intake import match
from grader.intake.archive import is_packed
from grader.intake.code import unreadable_because
from grader.intake.contents import LATE, Contents, Handed, Unmatched
from grader.intake.match import Version, exercise_of_file_name
from grader.intake.notebook import ModuleText, module_of_script, modules_of, python_of_exported, written_files
from grader.model import Exercise, Submission
from grader.model.report import ExerciseFiles

_MOST_SIBLINGS = 50
_MOST_SIBLING_BYTES = 1 << 20  # all together
_MOST_ATTEMPTS = 5
_UNNAMED = Version()


@dataclass(frozen=True)
class _Candidate:
    """A file, or what a notebook has for one exercise, that may be the answer to the exercise.

    Attributes:
        path: the path as it was handed in.
        source: the source of the module.
        how: the reason why it may be the answer, in words, such as "by its name"; "" if the exercise's file name says
            it.
        version: the version that its name states.
        module: the module made of a notebook, with the origins of its lines; None for a file.
        rank: the strength of the signs that it is of the exercise: 0 for its name, with functions of it, or a text that
            does not show what it defines; 1 for all its functions; 2 for its name alone.
        notes: notes on what was left out of it.
        lines: for each line of the source, cell 0 and the line of the file, where the two differ.
    """

    path: PurePosixPath
    source: bytes
    how: str = ""
    version: Version = _UNNAMED
    module: ModuleText | None = None
    rank: int = 0
    notes: tuple[str, ...] = ()
    lines: tuple[tuple[int, int], ...] = ()


def submissions_of(
    handed: Handed,
    course: Sequence[Exercise],
    wanted: Sequence[Exercise],
    *,
    with_earlier_attempts: bool = False,
    root: Path | None = None,
    keeps_archives_closed: bool = False,
) -> tuple[list[Submission], list[Unmatched]]:
    """Return an author's submissions, and the files that match no exercise.

    Args:
        handed: the files that the author handed in.
        course: all exercises of the course, so that a file of an unwanted exercise is not taken for a wanted one's.
        wanted: the exercises that are graded.
        with_earlier_attempts: True if earlier attempts become submissions, too.
        root: the folder from which paths are shown, if there is one.
        keeps_archives_closed: True if archives stay closed.

    Returns:
        The submission that counts, then those of earlier attempts, each with the exercises that have such an attempt;
        and the files that could not be matched.
    """
    contents = Contents(handed.parts, match.answer_name_test(course), keeps_archives_closed=keeps_archives_closed)
    candidates, left = _candidates(contents, course)
    is_own = any(is_course(folder) for folder in (root, *(part.path for part in handed.parts)) if folder is not None)
    copies = {item.id: _find_copies(item, candidates.get(item.id, []), is_own=is_own) for item in wanted}
    ordered = {
        item.id: _sort_candidates(item, [one for one in candidates.get(item.id, []) if one not in copies[item.id]])
        for item in wanted
    }
    most = max(1, *map(len, ordered.values())) if with_earlier_attempts and ordered else 1
    submissions = [
        _submission_of_attempt(handed, contents, wanted, ordered, copies, attempt, root)
        for attempt in range(min(most, _MOST_ATTEMPTS))
    ]
    # Of an author with no file of an exercise everything that was not read, else what may have been meant as an answer.
    left += contents.left.items() if any(candidates.values()) else (contents.left | contents.others).items()
    rows = [Unmatched(str(path), handed.key, why) for path, why in left]
    if handed.parts and not left and not contents.files:
        rows.append(Unmatched("", handed.key, "it is empty"))
    return submissions, rows


def _candidates(
    contents: Contents, course: Sequence[Exercise]
) -> tuple[dict[str, list[_Candidate]], list[tuple[PurePosixPath, str]]]:
    """Return the files that may answer each exercise, by its id, and the files of no exercise.

    Each of the latter is a pair of the path and the reason why the file matches no exercise.
    """
    candidates: dict[str, list[_Candidate]] = {}
    rest: dict[PurePosixPath, str] = {}
    _add_written_files(contents)
    for path, data in contents.files.items():
        try:
            own, why = _candidates_of(path, data, course, is_notebook=path in contents.notebooks)
        except ValueError as error:
            contents.left[path] = str(error)
            continue
        except Exception as error:  # of any kind, as a stranger made it
            contents.left[path] = unreadable_because(error)
            continue
        for id, one in own.items():
            candidates.setdefault(id, []).append(one)
        if not own and not is_check_or_probe(path.name):
            rest[path] = why
    for exercise in course:
        for one in _candidates_to_ignore(exercise, candidates.get(exercise.id, [])):
            candidates[exercise.id].remove(one)
            if not any(other.path == one.path for every in candidates.values() for other in every):
                rest[one.path] = f"{exercise.id} is graded by the file with its name"
    # A file beside one that counts is a module of the student's own, and comes along; or one of a package.
    known = [one for own in candidates.values() for one in own] if rest else []
    along = {one.path.parent / name for one in known for name in _importable_files(contents, one)}
    return candidates, [(path, why) for path, why in rest.items() if path not in along]


def _add_written_files(contents: Contents) -> None:
    """Add the Python files that cells of notebooks write by `%%writefile`.

    A file that was handed in itself is not replaced.
    """
    for path, data in [*contents.files.items()]:
        if path in contents.notebooks:
            for name, text in written_files(data).items():
                contents.files.setdefault(path.with_name(name), text)
                contents.disk.setdefault(path.with_name(name), contents.disk[path])


def _candidates_to_ignore(exercise: Exercise, own: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the candidates of rank 1 if a candidate of rank 0 answers the exercise; else [].

    Mostly, rank 0 is a file with the exercise's name, and rank 1 a file that only defines its functions. So `double.py`
    displaces `notes.py`, unless `double.py` is the unchanged starter.
    """
    if any(one.rank == 0 and not is_starter(exercise, one.source) for one in own):
        return [one for one in own if one.rank == 1]
    return []


def _candidates_of(
    path: PurePosixPath, data: bytes, course: Sequence[Exercise], *, is_notebook: bool
) -> tuple[dict[str, _Candidate], str]:
    """Return the exercises that a file may answer: a candidate for each, by the exercise's id.

    Args:
        path: the path as it was handed in.
        data: the content of the file.
        course: all exercises of the course.
        is_notebook: True if the file seems to be a notebook.

    Returns:
        The candidates, and the reason why there may be none.

    Raises:
        ValueError: the file seems to be a notebook, but cannot be read as one.
    """
    if is_notebook:
        return _notebook_candidates(path, data, course), "no cell in it says which exercise it is of"
    if is_check_or_probe(path.name):
        return {}, ""
    script = python_of_exported(data)
    source = data if script is None else script.text.encode("utf-8", "replace")
    name, known = exercise_of_file_name(path.name, course), match.top_level_names(source)
    ids, why = match.match_by_contents(source, course)
    own = {id: _Candidate(path, source, "by the functions that it defines", rank=1) for id in ids}
    if name:
        exercise = next(item for item in course if item.id == name.exercise)
        wanted = match.starter_names(exercise)
        is_its = not known.is_known or not wanted or bool(wanted & (known.defined | known.imported))
        how = "" if path.name == exercise.file_name else "by its name"
        # Where exercises share functions, the name says which of them it is.
        others = {id for id in own if any(wanted & match.starter_names(item) for item in course if item.id == id)}
        own = {id: one for id, one in own.items() if id not in others}
        own[name.exercise] = _Candidate(path, source, how, name.version, rank=0 if is_its else 2)
    if script is not None:
        own = {item.id: _script_candidate(data, own[item.id], item, course) for item in course if item.id in own}
    return own, why


def _script_candidate(data: bytes, one: _Candidate, exercise: Exercise, course: Sequence[Exercise]) -> _Candidate:
    """Return a candidate that has only those statements of a script that the exercise needs.

    The script was exported from a notebook, and so may answer several exercises. An unchanged starter is returned as it
    is.

    Args:
        data: the content of the script.
        one: the candidate with the whole script.
        exercise: the exercise.
        course: all exercises that the script may answer.
    """
    if is_starter(exercise, one.source):
        return one
    module = module_of_script(data, exercise, course)
    return replace(one, source=module.source, lines=tuple(module.origins), notes=tuple(module.notes))


def _notebook_candidates(path: PurePosixPath, data: bytes, course: Sequence[Exercise]) -> dict[str, _Candidate]:
    """Return a candidate for each exercise that a notebook answers, by the exercise's id.

    Raises:
        ValueError: the file is not a notebook.
    """
    known = {exercise.id: exercise for exercise in course}
    name = exercise_of_file_name(path.name, course)
    version = name.version if name else _UNNAMED
    candidates = {}
    for id, module in modules_of(data, path.name, course).items():
        # Cells that were not touched are the starter, also if those of all exercises were changed.
        source = module.own if is_starter(known[id], module.own) else module.source
        rank = 1 if name and name.exercise != id else 0
        candidates[id] = _Candidate(path, source, "a notebook", version, module, rank)
    return candidates


def _find_copies(exercise: Exercise, candidates: Sequence[_Candidate], *, is_own: bool) -> list[_Candidate]:
    """Return the candidates beside or below the file at the course's path: they do not count.

    If `exercises/01_making/double/double.py` was handed in, `exercises/01_making/double/old/double.py` is such a copy.
    The course's folder may itself be in another folder or in an archive. If the file is the unchanged starter, the
    others are copies only if `is_own` and the course's folder is not in another one: in a download, an answer may lie
    beside the starter.

    Args:
        exercise: the exercise.
        candidates: its candidates.
        is_own: True if the files were read from a course's folder, such as a student's own.
    """
    home = Places.of(exercise).starter.parts
    answers = [
        one
        for one in candidates
        if one.path.parts[-len(home) :] == home
        and one.module is None
        and (not is_starter(exercise, one.source) or (is_own and len(one.path.parts) == len(home)))
    ]
    places = [one.path.parent for one in answers]
    return [one for one in candidates if one not in answers and any(map(one.path.is_relative_to, places))]


def _sort_candidates(exercise: Exercise, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the candidates of an exercise in order: the first one is graded.

    For example, `double_v2.py` comes before `double.py`, and that before `double.ipynb`. Of candidates with the same
    source, one is kept. Unchanged starters come last. What decides next is, in this order: the rank, the version and
    the attempt in the path, a file before a notebook, a file outside of archives, the course's path, the shortest path,
    and the course's spelling of the name.
    """
    home = Places.of(exercise).starter.parts

    def place(one: _Candidate) -> tuple[object, ...]:
        later = [-number for number in (*one.version, match.attempt_of(one.path))]
        packed = any(is_packed(above.name) for above in one.path.parents)
        parts, at_home = one.path.parts, one.path.parts[-len(home) :] == home
        where = (one.module is not None, packed, not at_home, len(parts), bool(one.how), str(one.path))
        return (is_starter(exercise, one.source), one.rank, *later, *where)

    different = {one.source: one for one in sorted(candidates, key=place, reverse=True)}
    return sorted(different.values(), key=place)


def _submission_of_attempt(
    handed: Handed,
    contents: Contents,
    wanted: Sequence[Exercise],
    ordered: Mapping[str, Sequence[_Candidate]],
    copies: Mapping[str, Sequence[_Candidate]],
    attempt: int,
    root: Path | None,
) -> Submission:
    """Return an author's submission of one attempt: 0 counts, and 1 is the one before it.

    If `double_v2.py` and `double.py` were handed in, attempt 0 has `double_v2.py`, and attempt 1 `double.py`. An
    exercise for which nothing was handed in is in attempt 0 only, with the reason why it is missing.

    Args:
        handed: the author, with the files and folders as they were handed in.
        contents: the files that were read of these.
        wanted: the exercises that are graded.
        ordered: the files that may answer each exercise, by its id, the one that counts first.
        copies: the files beside or below the file at the course's path, such as `old/double.py`, by the exercise's id;
            they are not attempts.
        attempt: the number of the attempt.
        root: the folder from which paths are shown, if there is one.
    """
    exercises: dict[str, ExerciseFiles] = {}
    for exercise in wanted:
        own = ordered[exercise.id]
        if attempt < len(own):
            candidates = [*own, *copies[exercise.id]]
            exercises[exercise.id] = _read_or_explain(
                exercise, own[attempt], candidates, contents, root, late=handed.late
            )
        elif attempt == 0:
            problem, unread = _why_absent(exercise, contents, wanted)
            exercises[exercise.id] = ExerciseFiles(path=contents.disk[unread] if unread else None, problem=problem)
    return Submission(handed.key, exercises, digest_of_files(exercises), root, handed.authors)


def _read_or_explain(
    exercise: Exercise, one: _Candidate, own: Sequence[_Candidate], contents: Contents, root: Path | None, *, late: bool
) -> ExerciseFiles:
    """Return the files of an exercise, or why they cannot be read.

    The reason is the `problem` of an `ExerciseFiles` without files.

    Args:
        exercise: the exercise.
        one: the candidate that becomes the module.
        own: all candidates of the exercise.
        contents: the files that the author handed in.
        root: the folder from which paths are shown, if there is one.
        late: True if the platform says that it was handed in late.
    """
    try:
        return _files_of(exercise, one, own, contents, root, late=late)
    except Exception as error:  # of any kind, as strangers wrote them
        return ExerciseFiles(
            path=contents.disk[one.path], problem=f"{one.path} cannot be read: {unreadable_because(error)}"
        )


def _files_of(
    exercise: Exercise, one: _Candidate, own: Sequence[_Candidate], contents: Contents, root: Path | None, *, late: bool
) -> ExerciseFiles:
    """Return the files of an exercise: a candidate as its module, and the files it may import.

    `_read_or_explain` explains the arguments.
    """
    path = contents.disk[one.path]
    is_file = one.module is None
    typed = Path(os.path.relpath(path)).as_posix() if is_file else exercise.file_name
    untouched = is_starter(exercise, one.source)
    return ExerciseFiles(
        {exercise.file_name: one.source, **_importable_files(contents, one, {other.path for other in own})},
        path,
        notes=tuple(_notes_on_origin(exercise, one, own, contents, late=late)),
        cells=tuple(one.module.origins) if one.module else one.lines,
        untouched=untouched,
        error="" if untouched else match.compile_error_text(one.source, exercise.file_name, typed),
        place=match.module_place(one.source, Path(os.path.relpath(path, root)).as_posix())
        if is_file and root
        else None,
    )


def _notes_on_origin(
    exercise: Exercise, one: _Candidate, candidates: Sequence[_Candidate], contents: Contents, *, late: bool
) -> Iterator[str]:
    """Yield notes for staff on where the file of an exercise came from.

    An example is "taken from hw1/Double (1).py, by its name".

    Args:
        exercise: the exercise.
        one: the candidate that becomes the module.
        candidates: all candidates of the exercise.
        contents: the files that the author handed in.
        late: True if the platform says that it was handed in late.
    """
    if one.how:
        yield f"taken from {one.path}, {one.how}"
    # The starter is in every copy of the course, beside a notebook that was worked on, and the other way round.
    others = [
        str(other.path)
        for other in candidates
        if other is not one and not (is_starter(exercise, other.source) and (other.module or not other.how))
    ]
    if others:
        yield f"several versions: {one.path} counts, not {', '.join(others)}"
    if one.module:
        yield from one.module.notes
    elif note := match.encoding_note(one.source, exercise.file_name):
        yield note
    yield from one.notes
    for name in _changed_checks(exercise, contents):
        yield f"{name} is not the course's (changed, or of another version): the course's own is used"
    if late:
        yield LATE


def _changed_checks(exercise: Exercise, contents: Contents) -> Iterator[str]:
    """Yield the names of handed-in check and probe files that differ from the course's.

    An example is `check_double.py`. The course's own file is used, and a note says so.
    """
    shown = [path for path in (exercise.shown_checks, *exercise.probes) if path and path.parent == exercise.folder]
    ours = {path.name: path for path in shown}
    for path, data in contents.files.items():
        if path.name in ours and _with_plain_line_ends(data) != _with_plain_line_ends(ours[path.name].read_bytes()):
            yield path.name


def _with_plain_line_ends(data: bytes) -> bytes:
    """Return a file's content with plain line ends, and without blanks at its end.

    Git may have changed the line ends.
    """
    return data.replace(b"\r\n", b"\n").rstrip()


def _importable_files(contents: Contents, one: _Candidate, others: Collection[PurePosixPath] = ()) -> dict[str, bytes]:
    """Return the Python files that a candidate's module may import, by path from its folder.

    An example is `{"util.py": b"...", "tools/io.py": b"..."}`: the files in the candidate's folder, and those of the
    packages below it that these files import. Files of outer folders come first.

    Args:
        contents: the files that the author handed in.
        one: the candidate.
        others: the paths of other files of the same exercise, which are left out.
    """
    along: dict[PurePosixPath, bytes] = {}
    room, folder = _MOST_SIBLING_BYTES, one.path.parent
    above = folder.parts
    # Only those of the folder are sorted: a course has hundreds of files, and this is done for each exercise.
    inside = [row for row in contents.files.items() if row[0].parts[: len(above)] == above]
    for path, data in sorted(inside, key=lambda row: (len(row[0].parts), row[0])):
        is_module = path.suffix == ".py" and path not in contents.notebooks and not is_check_or_probe(path.name)
        fits = len(data) <= room and len(along) < _MOST_SIBLINGS
        if is_module and fits and path != one.path and path not in others:
            along[path.relative_to(folder)] = data
            room -= len(data)
    return match.files_to_import(one.source, along)


def _why_absent(exercise: Exercise, contents: Contents, course: Sequence[Exercise]) -> tuple[str, PurePosixPath | None]:
    """Return why no file answers an exercise.

    An example is "double.py is not among the submitted files".

    Returns:
        The reason, and the path of the unreadable file that explains it, or None.
    """
    for path, why in contents.left.items():
        name = exercise_of_file_name(path.name, course)
        if name and name.exercise == exercise.id:
            return f"{exercise.file_name} cannot be read: {why}", path
    # Its author should know about a broken archive.
    missing = f"{exercise.file_name} is not among the submitted files"
    broken = next((path for path in contents.left if is_packed(path.name)), None)
    if broken is None:
        return missing, None
    why = contents.left[broken] if broken.name in contents.left[broken] else f"{broken}: {contents.left[broken]}"
    return (why if not contents.files else f"{missing}; {why}"), broken


def digest_of_files(exercises: Mapping[str, ExerciseFiles]) -> str:
    """Return the SHA-256 of all files of a submission, in hexadecimal.

    By it, two reports show whether they are of the same files.
    """
    digest = hashlib.sha256()
    for id, own in sorted(exercises.items()):
        for name, content in sorted(own.files.items()):
            digest.update(f"{id}/{name}:{len(content)}:".encode("utf-8", "surrogateescape"))
            digest.update(content)
    return digest.hexdigest()
