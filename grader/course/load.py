"""course.yaml and exercise.yaml → Course, with every problem at once; and the exercises of it that a name means."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from importlib import metadata
from pathlib import Path
from zoneinfo import ZoneInfo

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from grader.course import layout
from grader.course.files import (
    CourseFile,
    ExampleEntry,
    ExerciseFile,
    HandInEntry,
    LimitsEntry,
    ModuleEntry,
    read_file,
    suggestion,
)
from grader.course.layout import COURSE_FILE, RESTORE, SHARED, Places
from grader.model import Broken, Course, Exercise, HandIn, Install, Limits, Module, Policy, RubricLine, Withheld
from grader.model.course import WHOLE
from grader.model.errors import CourseError
from grader.model.picture import NamedShape, Picture, Shapes, View

MOST_DATA_MB = 16
"""MiB that the data files of one exercise may have together, as each worker holds them in memory."""

_AS_WRITTEN = (
    *("number", "title", "kind", "difficulty", "topics", "needs", "minutes", "hints"),
    *("counters", "values", "void", "par", "without"),
)
"""The keys of exercise.yaml that are attributes of an exercise as they stand there."""
_NAMED = r"[ \t]*C[0-9]+[.:)]?[ \t]"
_RULES = re.compile(rf"^[ \t]*(C[0-9]+)[.:)]?[ \t]+(\S.*(?:\n(?!{_NAMED}) .*\S.*)*)", re.MULTILINE)
"""A rule and its continuation lines, which begin with a blank and are not a rule themselves."""


@dataclass(frozen=True)
class _CourseFacts:
    """The facts that all exercises of a course have in common.

    Attributes:
        root: the folder of the course.
        staff: the folder under which its solutions lie.
        closed: folders that no student code may see.
        shared: staff's shared code.
        limits: the limits of course.yaml.
    """

    root: Path
    staff: Path
    closed: tuple[Path, ...]
    shared: Mapping[str, Path]
    limits: Limits


def load_course(root: Path, *, whole: bool = True, named: Collection[str] = ()) -> Course:
    """Read course.yaml and each exercise.yaml, check them, and return the course.

    Args:
        root: the folder of the course.
        whole: True if an exercise that cannot be used is an error; False to leave it out and list it in `broken`.
        named: the names of the exercises and modules to load, as people type them. If each is an id, the folder of a
            module or a number, only these are loaded, and the files of the others are not parsed. With any other name,
            or without names, all are loaded.

    Raises:
        CourseError: the course has problems; it lists all of them.
    """
    with _add_restore_hint(root):
        file = read_file(root / COURSE_FILE, COURSE_FILE, CourseFile)
    problems = [*_requirement_problems(file.requires), *_duplicate_problems(file)]
    handins = handins_of(file, problems)
    # From the defaults to the course to the exercise: each says only what differs.
    limits = _changed_limits(Limits(), file.limits)
    facts = _CourseFacts(root, layout.staff_root(root), layout.closed_folders(root), layout.shared_code(root), limits)
    wanted = _ids_meant_by(root, named, file.modules)
    modules, broken = list[Module](), list[Broken]()
    before: dict[str, str] = {}
    for entry in file.modules:
        usable = []
        for id in entry.exercises:
            if id not in wanted:
                before[id] = ""
                continue
            try:
                with _add_restore_hint(root):
                    exercise = _load_exercise(facts, Places(entry.folder, id), before)
                usable.append(exercise)
                before[id] = exercise.number
            except CourseError as error:
                broken.append(Broken(id, entry.folder, tuple(error.problems)))
                before[id] = ""
        modules.append(Module(entry.folder, entry.title, tuple(usable)))
    broken += _unknown_exercises(file, before)
    if problems or (whole and broken):
        raise CourseError(*problems, *(problem for item in broken for problem in item.problems))
    late = file.policy
    percents = round(late.percent_a_day * 100), round(late.cap_percent * 100)
    policy = Policy(*percents, late.slack_minutes, late.grace_days, late.drop)
    timezone = file.timezone or ""
    install = Install(**file.install.model_dump(), requirement=file.requires or "tensorgrade") if file.install else None
    return Course(file.title, root, tuple(modules), handins, tuple(broken), file.attempts, policy, timezone, install)


def read_module(course: Course, module: Module) -> Module:
    """Read a module again, and return it with all its usable exercises.

    A loaded course may have only some of them.

    Args:
        course: the course.
        module: one of its modules.
    """
    again = load_course(course.root, whole=False, named=[module.id])
    return next((each for each in again.modules if each.id == module.id), module)


@contextmanager
def _add_restore_hint(root: Path) -> Iterator[None]:
    """Add to a `CourseError` of the `with` block how to restore the course's files.

    An error outside of a student's folder is raised again as it is.

    Raises:
        CourseError: what was raised, with the remedy where `root` is a folder that `grade start` made.
    """
    try:
        yield
    except CourseError as error:
        if not layout.is_student_folder(root) or any(RESTORE in problem for problem in error.problems):
            raise
        raise CourseError(*error.problems, f"You did not write that file; it came with the course. {RESTORE}") from None


def _ids_meant_by(root: Path, named: Collection[str], modules: Sequence[ModuleEntry]) -> set[str]:
    """Return the ids of the exercises that typed names mean, to load only these.

    `02` and `02_memory` mean all of that module; `02-1` and `predict_strides` mean one exercise. All ids are returned
    for any other name, or if nothing is named.

    Args:
        root: the folder of the course.
        named: names, as people type them.
        modules: the modules of course.yaml.
    """
    known: dict[str, Sequence[str]] = {entry.folder: entry.exercises for entry in modules}
    known |= {id: [id] for entry in modules for id in entry.exercises}
    every = {id for entry in modules for id in entry.exercises}
    meant = set[str]()
    for word in (_word_of(name).removesuffix(".py") for name in named):
        if number := _parts_of_number(word):
            found = {id for id, own in _numbers(root, modules).items() if own[: len(number)] == number}
            meant |= found if word not in known else every
            if not found:
                return every
        elif word in known:
            meant |= {*known[word]}
        else:
            return every
    return meant or every


def _numbers(root: Path, modules: Sequence[ModuleEntry]) -> dict[str, tuple[int, ...]]:
    """Return the number of each exercise, such as (2, 1), by its id.

    The files are searched for it, and not parsed, because parsing YAML is slow.
    """
    numbers = {}
    for entry in modules:
        for id in entry.exercises:
            with suppress(OSError):  # reading the exercise raises it again
                text = (root / Places(entry.folder, id).description).read_bytes()
                if match := _NUMBER_LINE.search(text):
                    numbers[id] = _parts_of_number(match[1].decode())
    return numbers


def _load_exercise(facts: _CourseFacts, places: Places, before: Mapping[str, str]) -> Exercise:
    """Read and check one exercise.

    Args:
        facts: the facts that all exercises of the course have in common.
        places: the paths of the exercise.
        before: the numbers of the exercises that precede it in course.yaml, by id; "" for one that was not read.

    Raises:
        CourseError: the exercise cannot be used; it lists every problem.
    """
    root, staff = facts.root, facts.staff
    if not (root / places.shown).is_dir():
        near = suggestion(places.id, layout.exercise_folders(root, places.module))
        remedy = f". {RESTORE}" if layout.is_student_folder(root) else near
        folder = f"{places.module} names {places.id}, and there is no folder {places.shown.as_posix()}"
        raise CourseError(f"{COURSE_FILE}: modules: {folder}{remedy}")
    where = places.description.as_posix()
    file = read_file(root / places.description, where, ExerciseFile)
    problems = []
    if same := [id for id, number in before.items() if number == file.number and id != places.id]:
        problems.append(f"{where}: number: {file.number} is that of {same[0]} already; change one of the two")
    # No student meets an exercise before what it builds on, and needs form no circle.
    for id in file.needs:
        if id not in before:
            near = suggestion(id, [*before])
            problems.append(f"{where}: needs: no exercise {id} comes before this one in {COURSE_FILE}{near}")
    shown_checks, hidden_checks = _file_or_none(root / places.shown_checks), _file_or_none(staff / places.hidden_checks)
    checks = shown_checks or hidden_checks
    if file.by and (checks or file.rules):
        which = checks.name if checks else "the key rules"
        problems.append(f"{where}: by: a person gives all points, and there is {which}; remove one of the two")
    elif not file.by and not checks:
        problems.append(f"{places.shown.as_posix()}: there are no checks; write {places.shown_checks.name}")
    entry = None if hidden_checks else file.withheld  # in a full copy nothing is withheld
    exercise = Exercise(
        **{key: getattr(file, key) for key in _AS_WRITTEN},
        id=places.id,
        module=places.module,
        points=round(file.points * 100),
        folder=root / places.shown,
        closed=facts.closed,
        starter=root / places.starter,
        starter_digest=file.starter or "",
        shown_checks=shown_checks,
        hidden_checks=hidden_checks,
        probes=tuple(path for path in (root / places.probes[0], staff / places.probes[1]) if path.is_file()),
        reference=_file_or_none(staff / places.reference),
        wrong=layout.answer_paths(staff / places.wrong, staff / places.wrong_entries),
        right=layout.answer_paths(staff / places.right, staff / places.right_entries),
        task=(task := _read_task(root, places, problems)),
        contract=rule_texts(task),
        limits=_changed_limits(facts.limits, file.limits),
        withheld=Withheld(entry.checks, entry.shares, round(entry.points * 100)) if entry else Withheld(),
        data=_data_files(root, places, file.files, problems),
        shared=facts.shared,
        lints=facts.staff == root,
        staff=_points_by_staff(file),
        rubrics={
            rule: tuple(RubricLine(round(line.points * 100), line.says) for line in entry.rubric)
            for rule, entry in file.rules.items()
        },
        caps={rule: round(points * 100) for rule, points in file.caps.items()},
        example=_example_picture(file.example) if file.example else None,
        mistakes=_file_or_none(root / places.mistakes),
    )
    unknown = [rule for rule in file.rules if rule not in exercise.contract] if exercise.task else []
    problems += [
        f"{where}: rules: there is no rule {rule} in {exercise.file_name}; its rules are {', '.join(exercise.contract)}"
        for rule in unknown
    ]
    if not file.by and sum(exercise.staff.values()) >= exercise.points:
        problems.append(f"{where}: rules: staff gives all {file.points:g} points, or more; leave some for the checks")
    if problems:
        raise CourseError(*problems)
    return exercise


def _points_by_staff(file: ExerciseFile) -> dict[str, int]:
    """Return the hundredths of a point that a person gives, by rule, such as `{"C3": 200}`.

    If a person gives all points, their key is `WHOLE`.
    """
    if file.by:
        return {WHOLE: round(file.points * 100)}
    return {rule: round(entry.points * 100) for rule, entry in file.rules.items()}


def _file_or_none(path: Path) -> Path | None:
    return path if path.is_file() else None


def _example_picture(entry: ExampleEntry) -> Picture:
    views = (
        View(name, tuple(view.shape), tuple(view.strides), view.offset, entry.storage or 0)
        for name, view in entry.views.items()
    )
    rows = tuple(NamedShape(name, tuple(shape)) for name, shape in entry.broadcast.items())
    return Picture(views=tuple(views), shapes=Shapes(rows, broadcast=True) if rows else None)


def _data_files(root: Path, places: Places, names: Sequence[str], problems: list[str]) -> dict[str, Path]:
    """Return the paths of an exercise's data files, by name.

    A sentence is appended to `problems` for each fault.
    """
    files = {name: root / places.shown / name for name in names}
    where = f"{places.description.as_posix()}: files"
    for name, path in files.items():
        if path in (root / places.starter, root / places.description) or layout.is_check_or_probe(path.name):
            problems.append(
                f"{where}: {name} is the name of a file of the exercise itself; give the data file another name"
            )
        elif path.is_symlink() or not path.is_file():
            missing = (places.shown / name).as_posix()
            is_given = layout.staff_root(root) != root
            what = f". {RESTORE}" if is_given else "; put it there, or fix the name"
            problems.append(f"{where}: there is no file {missing}{what}")
    size = sum(path.stat().st_size for path in files.values() if path.is_file())
    if size > MOST_DATA_MB << 20:
        much = f"{size / (1 << 20):.1f} MiB are too much for each worker"
        problems.append(f"{where}: {much}; keep to {MOST_DATA_MB} MiB together")
    return files


def _read_task(root: Path, places: Places, problems: list[str]) -> str:
    """Return the text of an exercise's task; "" if it has none.

    The task is the docstring of the starter, or of its copy if the student's file has none. If a file cannot be read, a
    sentence is appended to `problems`.
    """
    # A student's file may have lost its text, or be in pieces just now: then that of the copy counts.
    for path in (root / places.starter, layout.starter_copy(root, places)):
        try:
            text = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
            if task := ast.get_docstring(ast.parse(text)):
                return task
        except OSError as error:
            problems.append(f"{places.starter.as_posix()}: cannot be read ({error.strerror}); make it readable")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return ""


def rule_texts(task: str) -> dict[str, str]:
    """Return the text of each numbered rule of a task, by the rule's name.

    A task with the lines `C1  Return x,`, `    doubled.` and `C2  No loop.` has the rules
    `{"C1": "Return x, doubled.", "C2": "No loop."}`.
    """
    return {rule[1]: join_rule_lines(rule[2], rule.start(2) - rule.start()) for rule in _RULES.finditer(task)}


_ITEM = re.compile(r"(?:[-*•]|\d+[.)]) ")
_DEEPER = 2
"""So many columns more than the text of its rule make a line one of a matrix, a list or code."""


def join_rule_lines(text: str, column: int) -> str:
    """Return the lines of a rule, joined into one, except for lines of a matrix, a list or code.

    "Return the sum" and "of all." become "Return the sum of all." Lines that are indented further than the rule's text,
    and items of a list, stay lines of their own, which begin with four blanks or more.

    Args:
        text: the rule.
        column: the column at which it begins.
    """
    first, *more = text.rstrip().split("\n")
    joined, inside = [first.strip()], False
    for line in more:
        deeper = len(line) - len(line.lstrip()) - column
        if deeper >= _DEEPER or _ITEM.match(line.lstrip()):
            joined.append(f"    {' ' * max(0, deeper)}{line.strip()}")
            inside = deeper < _DEEPER  # prose goes on in an item, and not behind a row of a matrix
        elif len(joined) > 1 and not inside:
            joined.append(f"    {line.strip()}")
            inside = True
        else:
            joined[-1] += f" {line.strip()}"
    return "\n".join(joined)


def _parse_time_zone(name: str | None, problems: list[str]) -> tzinfo | None:
    """Return the time zone of a name; None without a name.

    For an unknown name, append a sentence to `problems`, and return UTC.
    """
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError, KeyError):
        problems.append(f"{COURSE_FILE}: timezone: there is no time zone {name!r}; write one such as Europe/Berlin")
        return UTC


def handins_of(file: CourseFile, problems: list[str]) -> tuple[HandIn, ...]:
    """Return the hand-ins of course.yaml; append a sentence to `problems` for each fault."""
    zone = _parse_time_zone(file.timezone, problems)
    return tuple(_make_handin(entry, zone, problems) for entry in file.handins)


def _make_handin(entry: HandInEntry, zone: tzinfo | None, problems: list[str]) -> HandIn:
    """Return the hand-in that an entry of course.yaml describes.

    A time without a time zone gets `zone`. A sentence is appended to `problems` for each fault.
    """
    where = f"{COURSE_FILE}: handins.{entry.id}"

    def moment(value: datetime, key: str) -> datetime:
        if value.tzinfo is None and zone is None:
            problems.append(
                f"{where}.{key}: this time has no time zone; add one for the course, such as  timezone: Europe/Berlin"
            )
        return value if value.tzinfo else value.replace(tzinfo=zone)

    for id in entry.extra:
        if id not in entry.exercises:
            hint = suggestion(id, entry.exercises)
            problems.append(f"{where}.extra: {id} is not an exercise of this hand-in{hint}")
    counted = len(set(entry.exercises) - set(entry.extra))
    if entry.drop and entry.drop >= counted:
        problems.append(f"{where}.drop: {entry.drop} of {counted} exercises cannot be dropped; keep at least one")
    due = moment(entry.due, "due") if entry.due else None
    extensions = {who: moment(until, f"extensions.{who}") for who, until in entry.extensions.items()}
    # The keys of the file are the attributes of a hand-in.
    return HandIn(**{**dict(entry), "due": due, "column": entry.column or entry.title, "extensions": extensions})


def _changed_limits(base: Limits, entry: LimitsEntry) -> Limits:
    return replace(base, **entry.model_dump(exclude_none=True))


def _duplicate_problems(file: CourseFile) -> Iterator[str]:
    """Yield a sentence for each name in course.yaml that is listed twice, or that is reserved."""
    if any(entry.folder == SHARED for entry in file.modules):
        yield f"{COURSE_FILE}: modules: a module cannot be called {SHARED}, which is the folder of staff's shared code"
    ids = [id for entry in file.modules for id in entry.exercises]
    folders, handins = [entry.folder for entry in file.modules], [entry.id for entry in file.handins]
    unique: list[tuple[Sequence[str], str]] = [
        (ids, "modules: the exercise {} is listed twice; an id is unique in the course"),
        (folders, "modules: the folder {} is listed twice; list all of its exercises in one place"),
        (handins, "handins: two hand-ins have the id {}; give one of them another"),
        *((one.exercises, f"handins.{one.id}.exercises: {{}} is listed twice; remove it once") for one in file.handins),
    ]
    for names, sentence in unique:
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield f"{COURSE_FILE}: {sentence.format(name)}"


def _unknown_exercises(file: CourseFile, known: Mapping[str, str]) -> Iterator[Broken]:
    """Yield a `Broken` for each exercise that a hand-in lists and the course lacks."""
    for handin in file.handins:
        for id in handin.exercises:
            if id not in known:
                where = f"{COURSE_FILE}: handins.{handin.id}.exercises"
                yield Broken(id, "", (f"{where}: there is no exercise {id}{suggestion(id, [*known])}",))


def _requirement_problems(requires: str | None) -> Iterator[str]:
    if requires is None:
        return
    try:
        name, versions = _parse_requirement(requires)
    except ValueError:
        yield f"{COURSE_FILE}: requires: {requires!r} is not a requirement such as tensorgrade>=0.1"
        return
    here = metadata.version("tensorgrade")
    # A commit after 0.2.0 is 0.2.1.dev7, which packaging before 26 leaves out unless `prereleases` says otherwise.
    if name != "tensorgrade" or not versions.contains(here, prereleases=True):
        yield f"{COURSE_FILE}: requires: this course needs {requires}, but tensorgrade {here} is installed; upgrade it"


def _parse_requirement(requires: str) -> tuple[str, SpecifierSet]:
    """Return the package and the versions that a requirement such as `tensorgrade>=0.1` names.

    Raises:
        ValueError: the text is not a requirement.
    """
    name = "tensorgrade"
    if requires.startswith(name):
        with suppress(InvalidSpecifier):  # then it may still be one, with more than versions in it
            return name, SpecifierSet(requires.removeprefix(name))
    # The whole grammar takes as long to import as the rest of this file, and hardly any course needs it.
    from packaging.requirements import Requirement

    requirement = Requirement(requires)
    return requirement.name, requirement.specifier


# -- names, as people type them and as our own output prints them ------------------------------------------------------

_NUMBER = re.compile(r"(\d+)(?:-(\d+))?")
_NUMBER_LINE = re.compile(rb"^number:[ \t]*[\"']?(\d+(?:-\d+)?)", re.MULTILINE)
_RULE = re.compile(r"[Cc][0-9]+")
_NEAR = 0.45


def find_exercises(course: Course, name: str, commands: Iterable[str] = ()) -> list[Exercise]:
    """Return the exercises that a typed name means: one, or all of a module.

    Args:
        course: the course.
        name: an id, a number (02-1 or 2-1), a path to a file or folder of an exercise, or a module by its folder or
            number (02).
        commands: the names of commands, which an error may suggest, too.

    Raises:
        CourseError: nothing has that name, and the error suggests the nearest; or the exercise cannot be used.
    """
    # A path as our own output prints it, typed or completed by a shell; its last part says which exercise it is.
    word = _word_of(name).removesuffix(".py")
    number = _parts_of_number(word)
    meant = [
        exercise for exercise in course.exercises if word == exercise.id or number == _parts_of_number(exercise.number)
    ]
    if not meant:
        module = [exercise for exercise in course.exercises if word == exercise.module]
        meant = module or [exercise for exercise in course.exercises if number == _parts_of_number(exercise.number)[:1]]
    if not meant:
        for item in course.broken:
            if word == item.id:
                raise CourseError(*item.problems)
        unknown = f"there is no exercise or command {name!r}{_suggested_names(course, word, commands)}"
        # The number of an exercise stands in the file that cannot be used: one of these may be meant.
        broken = [item for item in course.broken if number[:1] and means_module(item.module, str(number[0]))]
        raise CourseError(unknown, *(problem for item in broken for problem in item.problems))
    return meant


def _word_of(name: str) -> str:
    return name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def means_module(module: str, name: str) -> bool:
    """Return whether a typed name means a module.

    `02_memory`, `exercises/02_memory` and `2` mean the module `02_memory`.
    """
    word = _word_of(name)
    number = _parts_of_number(word)
    return bool(module) and (
        word == module or (len(number) == 1 and number == _parts_of_number(module.partition("_")[0]))
    )


def one_exercise(course: Course, name: str) -> Exercise:
    """Return the one exercise that a typed name means.

    Raises:
        CourseError: nothing has that name, or it is the name of a module with several exercises.
    """
    meant = find_exercises(course, name)
    if len(meant) > 1:
        ids = ", ".join(exercise.id for exercise in meant)
        raise CourseError(f"{name} is a module; name one of its exercises: {ids}")
    return meant[0]


def split_exercises_and_rules(words: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split words that were typed into names of exercises and names of rules.

    `["02-1", "c4"]` becomes `(("02-1",), ("C4",))`.
    """
    words = tuple(words)
    rules = tuple(word.upper() for word in words if _RULE.fullmatch(word))
    return tuple(word for word in words if not _RULE.fullmatch(word)), rules


def _parts_of_number(word: str) -> tuple[int, ...]:
    """Return the parts of an exercise's number: (2, 1) for 2-1 and for 02-1.

    The result is (2,) for 02, and () for any other word.
    """
    match = _NUMBER.fullmatch(word)
    return tuple(int(part) for part in match.groups() if part) if match else ()


def _suggested_names(course: Course, word: str, commands: Iterable[str]) -> str:
    """Return the end of a sentence on an unknown name: what may have been meant.

    It is "; did you mean predict_strides?", "; module 02 has 02-1, 02-2", or ";  grade list  shows the exercises". For
    a number, no near one is suggested: one with nearly the same digits is another exercise.
    """
    numbers = [exercise.number for exercise in course.exercises]
    if meant := _parts_of_number(word):
        if same := [number for number in numbers if _parts_of_number(number)[:1] == meant[:1]]:
            return f"; module {same[0].split('-')[0]} has {', '.join(same)}"
        return f"; the numbers are {min(numbers)} to {max(numbers)}:  grade list  shows them" if numbers else ""
    ids = [*(item.id for item in course.exercises), *(item.id for item in course.broken)]
    ids += [module.id for module in course.modules]
    near = difflib.get_close_matches(word.lower(), [*ids, *commands], n=1, cutoff=_NEAR)
    return f"; did you mean {near[0]}?" if near else ";  grade list  shows the exercises"
