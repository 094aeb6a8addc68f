"""Where things lie in a course folder, and which files a course has.

A test holds that no other module spells a path of a course. exercises/<module>/<exercise>/ is what a student sees,
solutions/<module>/<exercise>/ is staff's; one mirrors the other.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from grader.model import Course, Exercise
from grader.model.errors import CourseError

COURSE_FILE = "course.yaml"
EXERCISE_FILE = "exercise.yaml"
TOPICS = Path("exercises", "topics.yaml")
SURPRISES = Path("exercises", "surprises.md")
"""The page of what most people expect otherwise, made of the questions of `grade drill`."""
SCHEMAS = Path(".schemas")
STUDENTS_PAGE = Path("README.md")
"""In a released copy: where students begin."""
ASSISTANTS_PAGE = Path("AGENTS.md")
"""In a released copy: what it asks of programs that help students to write code."""
MISTAKES = "mistakes.json"
"""In a released copy: the name of an exercise's file of known mistakes."""
GIVEN = Path(".grade-given.json")
"""What `grade start` gave out, in the folder that it made."""
RESTORE = "To restore it:  grade update"
"""What to do about a missing or damaged file in a folder that `grade start` made."""

CLONED = ("folder", "repository", "commit", "at")
"""The titles of the table that `grade clone` writes beside the folder of clones, under its name with `.csv`."""

PYTHON = (".py", ".py.txt")
"""How names of files end that are read of a submission, all in lower case; browsers and platforms make the second."""
NOTEBOOK = ".ipynb"
ZIP = ".zip"
ARCHIVES = (ZIP, ".tar", ".tar.gz", ".tgz")

BUNDLED = "bundled"
"""The folder of our package that holds the bundled course, where the package was not installed from a checkout."""

_PACKAGE = Path(__file__).resolve().parent.parent
_SHOWN, _STAFF = "exercises", "solutions"
WRONG_FILE, RIGHT_FILE = "wrong.yaml", "right.yaml"
"""Known answers, written as what they replace in the reference."""

_NOTEBOOKS = "notebooks"
_CHECKS, _PROBES = "check_", "probe_"
SHARED = "shared"
"""The package of staff's own code, which checks and references import by that name."""


class Places:
    """The paths of the parts of one exercise, from the course's root.

    Attributes:
        module: folder of its module.
        id: its own folder.
        shown: the folder that a student sees.
        staff: the folder that staff alone have.
        starter: the exercise module as students get it.
        description: number, title, points, hints.
        shown_checks: the checks that a student has.
        hidden_checks: the checks that a student does not have.
        probes: probe files, beside the shown and beside the hidden checks.
        mistakes: the sealed known mistakes, in a released copy.
        reference: the reference solution.
        wrong: the folder of known wrong answers.
        right: the folder of other right answers.
        wrong_entries: the file of wrong answers that are written as what they replace in the reference.
        right_entries: the file of right ones that are.
    """

    def __init__(self, module: str, id: str) -> None:
        checks, probes = f"{_CHECKS}{id}.py", f"{_PROBES}{id}.py"
        self.module, self.id = module, id
        self.shown, self.staff = Path(_SHOWN, module, id), Path(_STAFF, module, id)
        self.starter = self.shown / f"{id}.py"
        self.description = self.shown / EXERCISE_FILE
        self.shown_checks = self.shown / checks
        self.hidden_checks = self.staff / checks
        self.probes = self.shown / probes, self.staff / probes
        self.mistakes = self.shown / MISTAKES
        self.reference = self.staff / f"{id}.py"
        self.wrong = self.staff / "wrong"
        self.right = self.staff / "right"
        self.wrong_entries = self.staff / WRONG_FILE
        self.right_entries = self.staff / RIGHT_FILE

    @classmethod
    def of(cls, exercise: Exercise) -> Places:
        """Return the paths of an exercise that was loaded."""
        return cls(exercise.module, exercise.id)

    def known_answer(self, kind: str, name: str) -> str:
        """Return where a known answer is, for messages: its file, or its entry in a YAML file.

        For "wrong" and "detached" it is "solutions/02_memory/views/wrong.yaml: detached", and for "detached.py" it is
        "solutions/02_memory/views/wrong/detached.py".

        Args:
            kind: "wrong" or "right".
            name: the name of the file or of the entry.
        """
        folder = (self.staff / kind).as_posix()
        return f"{folder}/{name}" if name.endswith(".py") else f"{folder}.yaml: {name}"


def page_of(module: str) -> Path:
    """Return the path of a module's page README.md, from the course's root."""
    return Path(_SHOWN, module, "README.md")


def drill_of(module: str) -> Path:
    """Return the path of a module's short questions, drill.yaml, from the course's root."""
    return Path(_SHOWN, module, "drill.yaml")


def notebook_of(module: str) -> Path:
    """Return the path of a module's notebook in a released copy, from the copy's root."""
    return Path(_NOTEBOOKS, f"{module}{NOTEBOOK}")


def shared_code(root: Path) -> dict[str, Path]:
    """Return the files in `solutions/shared`, the code that checks and references import.

    They are paths by names such as "shared/inputs.py".
    """
    folder = staff_root(root) / _STAFF
    return {path.relative_to(folder).as_posix(): path for path in sorted((folder / SHARED).rglob("*.py"))}


def is_check_or_probe(name: str) -> bool:
    """Return whether a file name is that of a file of checks or probes.

    `check_views.py` and `probe_views.py` are such names. No student hands in such a file.
    """
    return name.startswith((_CHECKS, _PROBES))


def solutions_in(course: PurePosixPath) -> PurePosixPath:
    """Return the path of the folder of solutions in a course's folder."""
    return course / _STAFF


def is_course(folder: Path) -> bool:
    """Return whether a folder is that of a course: it contains course.yaml."""
    return (folder / COURSE_FILE).is_file()


def find_course(start: Path) -> Path:
    """Return the folder of the course that contains `start`.

    Raises:
        CourseError: no such folder was found.
    """
    # From the inside out, as with git: a command works from any folder of a course.
    for folder in (start, *start.parents):
        if is_course(folder):
            return folder
    if is_student_folder(student_folder_or_start(start)):
        raise CourseError(f"{student_folder_or_start(start) / COURSE_FILE} is missing. {RESTORE}")
    raise CourseError(
        f"there is no course here: no {COURSE_FILE} in {start} or a folder above it;  grade start DIR  creates one"
    )


def bundled_course() -> Path:
    """Return the folder of the course that comes with the grader.

    It is inside the installed package, or in a checkout the folder that contains the package.

    Raises:
        CourseError: no such folder was found.
    """
    for folder in (_PACKAGE / BUNDLED, _PACKAGE.parent):
        if is_course(folder):
            return folder
    raise CourseError(f"the bundled course is not in {_PACKAGE / BUNDLED}; reinstall tensorgrade")


def constraints_content() -> bytes:
    """Return the content of the file that pins the packages with which our tests passed.

    It has their versions and hashes, and lies beside the bundled course.

    Raises:
        CourseError: the bundled course was not found.
    """
    return (bundled_course() / "constraints.lock").read_bytes()


def course_for(start: Path) -> tuple[Path, bool]:
    """Return the folder of the course around `start`, or that of the bundled course.

    Returns:
        The folder; and True if it contains `start`, False if it is that of the bundled course.

    Raises:
        CourseError: no such folder was found.
    """
    folders = (student_folder_or_start(start), start, *start.parents)
    if any(is_course(folder) or (folder / GIVEN).is_file() for folder in folders):
        return find_course(start), True
    return bundled_course(), False


def staff_root(root: Path) -> Path:
    """Return the folder of the course that has the solutions.

    That is the bundled course's folder if `grade start` made `root`, which has no solutions; else it is `root` itself.
    """
    return bundled_course() if is_student_folder(root) else root


def refuse_student_folder(root: Path, command: str) -> None:
    """Raise an error if `grade start` made a folder.

    A command for authors cannot run in such a folder.

    Args:
        root: the folder.
        command: the command, such as "verify".

    Raises:
        CourseError: `grade start` made the folder.
    """
    if is_student_folder(root):
        raise CourseError(
            f"{root} is a student's folder, made by grade start: no solutions are in it;  grade {command}  is for a "
            "course of your own (grade new --course DIR) or a checkout"
        )


def closed_folders(root: Path) -> tuple[Path, ...]:
    """Return the existing folders that no student code may see.

    They are `exercises` and `solutions`, in the course and in the bundled one.
    """
    roots = dict.fromkeys((root, _PACKAGE / BUNDLED, _PACKAGE.parent))
    return tuple(path for top in roots if is_course(top) for path in (top / _SHOWN, top / _STAFF) if path.is_dir())


def student_folder_or_start(start: Path) -> Path:
    """Return the nearest folder, from `start` upwards, that `grade start` made.

    The folder may lack course.yaml. Without such a folder, the result is `start`.
    """
    return next((folder for folder in (start, *start.parents) if is_student_folder(folder)), start)


def is_student_folder(root: Path) -> bool:
    """Return whether a folder was made by `grade start`."""
    return (root / GIVEN).is_file()


def starter_copy(root: Path, places: Places) -> Path:
    """Return the path at which a copy of a starter lies, from which it can be restored.

    It is in the bundled course if `grade start` made `root`, else in `.grade/starters`. The file may not exist.
    """
    staff = staff_root(root)
    return staff / places.starter if staff != root else state_folder(root) / "starters" / places.starter.name


def student_files(course: Course) -> list[Path]:
    """Return the existing files of a course that students get, such as course.yaml.

    They are paths from the course's root.
    """
    wanted = (Path(COURSE_FILE), TOPICS, *_possible_student_files(course))
    return [path for path in wanted if (course.root / path).is_file()]


def released_files(course: Course) -> tuple[Path, ...]:
    """Return the files of modules and exercises that a released copy gets.

    They are those that students get, without each exercise.yaml, as paths from the course's root. A link counts even if
    its target does not exist.
    """
    paths = (path for path in _possible_student_files(course) if not is_description(path))
    return tuple(path for path in paths if os.path.lexists(course.root / path))


def course_files(course: Course) -> tuple[Path, ...]:
    """Return every file that grading a course needs, as paths from its root."""
    staff = (path.relative_to(course.root) for path in staff_files(course))
    return tuple(dict.fromkeys((*student_files(course), *staff)))


def stray_files(course: Course) -> list[str]:
    """Return the files under exercises/ and solutions/ that the grader never reads.

    They are paths from the course's root.
    """
    # A file with a misspelt name is never read, and its author would believe that it counts.
    known = {TOPICS, *_possible_student_files(course), *_possible_staff_files(course)}
    files = (path for top in (_SHOWN, _STAFF) for path in (course.root / top).rglob("*") if path.is_file())
    there = (path.relative_to(course.root) for path in files if "__pycache__" not in path.parts)
    broken = {(item.module, item.id) for item in course.broken}  # reported by themselves
    return sorted(path.as_posix() for path in there if path not in known and path.parts[1:3] not in broken)


def _possible_student_files(course: Course) -> Iterator[Path]:
    """Yield each path at which students may have a file of a module or an exercise.

    Paths are from the course's root, and need not exist.
    """
    yield SURPRISES
    for module in course.modules:
        yield from (page_of(module.id), drill_of(module.id))
        for exercise in module.exercises:
            places = Places.of(exercise)
            yield from (places.starter, places.description, places.shown_checks, places.probes[0])
            yield from (places.shown / name for name in exercise.data)


def _possible_staff_files(course: Course) -> Iterator[Path]:
    """Yield each path at which only staff may have a file that the grader reads.

    Paths are from the course's root, and need not exist.
    """
    yield from (path.relative_to(course.root) for path in shared_code(course.root).values())
    for exercise in course.exercises:
        places = Places.of(exercise)
        yield from (places.reference, places.hidden_checks, places.probes[1], places.mistakes)
        yield from (places.wrong_entries, places.right_entries)
        yield from (path.relative_to(course.root) for path in (*exercise.wrong, *exercise.right) if not is_entry(path))


def staff_files(course: Course) -> tuple[Path, ...]:
    """Return every file under solutions/, even one that the grader never reads.

    Only compiled Python is left out.
    """
    files = (course.root / _STAFF).rglob("*")
    return tuple(sorted(path for path in files if path.is_file() and path.suffix != ".pyc"))


def is_probe(path: Path) -> bool:
    """Return whether a path is that of a file of probes."""
    return path.name.startswith(_PROBES)


def is_description(path: Path) -> bool:
    """Return whether a path is that of an exercise.yaml.

    Such a file has an exercise's number, title, points and hints.
    """
    return path.name == EXERCISE_FILE


def exercise_folders(root: Path, module: str) -> list[str]:
    """Return the names of the exercise folders of a module on disk.

    Even those that course.yaml does not list are returned.
    """
    folder = root / _SHOWN / module
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def answer_paths(folder: Path, file: Path) -> tuple[Path, ...]:
    """Return the paths of known answers, in a folder and in a YAML file.

    The file `wrong/a.py` has its own path, and the entry `b` of `wrong.yaml` has the path `wrong.yaml/b`. Only names
    are read here, since whoever loads a course waits for it.
    """
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    entries = re.findall(r"^(\w+):", text, re.MULTILINE)
    return (*sorted(folder.glob("*.py")), *(file / name for name in entries))


def is_entry(path: Path) -> bool:
    """Return whether the path of a known answer is that of an entry in a YAML file.

    `wrong.yaml/detached` is, and `wrong/detached.py` is not.
    """
    return path.parent.name in (WRONG_FILE, RIGHT_FILE)


def state_folder(root: Path) -> Path:
    """Return the path of `.grade`, the folder in which `grade` saves one student's data.

    The data are progress, answers to questions, and results.
    """
    return root / ".grade"


def progress_path(course: Course) -> Path:
    """Return the path of the file in which a student's progress is saved."""
    return state_folder(course.root) / "progress.json"


def drill_answers_path(course: Course) -> Path:
    """Return the path of the file with a student's answers to the questions of `grade drill`."""
    return state_folder(course.root) / "drill.json"


def results_path(course: Course) -> Path:
    """Return the path of the store with results of earlier runs.

    Results of known wrong answers are in it, too.
    """
    return state_folder(course.root) / "results.sqlite"
