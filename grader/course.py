"""course.yaml and exercise.yaml → Course. The only module that knows where things lie in a course folder.

Every problem is found before any is told: each is one sentence with file and key, and a suggestion for an unknown key.
"""

from __future__ import annotations

import ast
import datetime
import difflib
import hashlib
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import fields, replace
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from packaging.requirements import InvalidRequirement, Requirement
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from grader.errors import CourseError
from grader.model import Course, Exercise, HandIn, Limits, Module, Withheld

COURSE_FILE = "course.yaml"
_CONTRACT_LINE = re.compile(r"^\s*(C[0-9]+)[.:)]?\s+(\S.*)$")

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(gt=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class LimitsEntry(_Strict):
    """Limits that differ from the defaults; the units are in the names."""

    load_s: Positive | None = None
    call_s: Positive | None = None
    check_s: Positive | None = None
    exercise_s: Positive | None = None
    wall_factor: Positive | None = None
    memory_mb: Count | None = None
    output_kb: Count | None = None
    shown_output_kb: Count | None = None
    file_mb: Count | None = None
    processes: Count | None = None


class WithheldEntry(_Strict):
    """What a released copy says of the hidden checks that it does not have."""

    checks: Annotated[int, Field(ge=0)]
    shares: Annotated[int, Field(ge=0)]


class ExerciseFile(_Strict):
    """exercise.yaml."""

    number: Annotated[str, Field(pattern=r"^[0-9]{2}-[0-9]{1,2}$")]
    title: Annotated[str, Field(min_length=1)]
    kind: Literal["predict", "implement", "fix", "vectorise", "speed"]
    difficulty: Annotated[int, Field(ge=1, le=4)]
    points: Annotated[float, Field(gt=0, multiple_of=0.01)]
    topics: list[Annotated[str, Field(pattern=r"^[TX][0-9]+[a-z]?$|^X-[a-z]+$")]]
    hints: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=3, max_length=3)]
    starter: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")] | None = None
    limits: LimitsEntry = LimitsEntry()
    withheld: WithheldEntry | None = None


class ModuleEntry(_Strict):
    """One module in course.yaml."""

    folder: Name
    title: Annotated[str, Field(min_length=1)]
    exercises: list[Name]


class HandInEntry(_Strict):
    """One hand-in in course.yaml."""

    id: Name
    title: Annotated[str, Field(min_length=1)]
    exercises: Annotated[list[Name], Field(min_length=1)]
    due: datetime.datetime | datetime.date | str | None = None
    weight: Positive = 1.0
    column: str | None = None


class CourseFile(_Strict):
    """course.yaml."""

    title: Annotated[str, Field(min_length=1)]
    requires: str | None = None
    modules: list[ModuleEntry]
    handins: list[HandInEntry] = []
    limits: LimitsEntry = LimitsEntry()


def find_course(start: Path) -> Path:
    """The folder of the course that `start` lies in.

    Raises:
        CourseError: there is none.
    """
    for folder in (start, *start.parents):
        if (folder / COURSE_FILE).is_file():
            return folder
    raise CourseError(f"there is no course here: no {COURSE_FILE} in {start} or a folder above it")


def load_course(root: Path) -> Course:
    """Read and check a course.

    Raises:
        CourseError: with every problem found.
    """
    problems: list[str] = []
    file = _read(root / COURSE_FILE, COURSE_FILE, CourseFile, problems)
    if file is None:
        raise CourseError(*problems)
    assert isinstance(file, CourseFile)
    problems += _requirement_problems(file.requires)
    limits = _limits(Limits(), file.limits)
    modules = []
    for entry in file.modules:
        exercises = [_load_exercise(root, entry.folder, id, limits, problems) for id in entry.exercises]
        modules.append(Module(entry.folder, entry.title, tuple(item for item in exercises if item is not None)))
    handins = tuple(
        HandIn(
            id=entry.id,
            title=entry.title,
            exercises=tuple(entry.exercises),
            due=entry.due.isoformat() if isinstance(entry.due, datetime.date) else entry.due,
            weight=entry.weight,
            column=entry.column or entry.title,
        )
        for entry in file.handins
    )
    course = Course(file.title, root, tuple(modules), handins)
    problems += _cross_problems(file, course)
    if problems:
        raise CourseError(*problems)
    return course


def find_exercise(course: Course, name: str) -> Exercise:
    """An exercise by id or number.

    Raises:
        CourseError: there is none; with a suggestion.
    """
    for exercise in course.exercises:
        if name in (exercise.id, exercise.number):
            return exercise
    near = difflib.get_close_matches(name, [exercise.id for exercise in course.exercises], n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise CourseError(f"there is no exercise or command {name!r}{hint}")


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schemas of the two YAML files, by file name."""
    return {
        "course.schema.json": CourseFile.model_json_schema(),
        "exercise.schema.json": ExerciseFile.model_json_schema(),
    }


def read_topics(course: Course) -> set[str]:
    """The ids in exercises/topics.yaml; none if there is no such file.

    Raises:
        CourseError: the file is not a mapping from ids to names.
    """
    path = course.root / "exercises" / "topics.yaml"
    if not path.is_file():
        return set()
    problems: list[str] = []
    data = _read_yaml(path, "exercises/topics.yaml", problems)
    if problems:
        raise CourseError(*problems)
    return {str(topic) for topic in data or {}}


def solution_files(exercise: Exercise, kind: str) -> list[Path]:
    """The files of wrong answers ("wrong") or right variants ("right"), by name."""
    folder = _staff_folder(exercise) / kind
    return sorted(folder.glob("*.py")) if folder.is_dir() else []


def stray_files(course: Course) -> list[str]:
    """Files under exercises/ and solutions/ that have no place in a course, as paths from its root."""
    known = {Path("exercises/topics.yaml")}
    for module in course.modules:
        known.add(Path("exercises", module.id, "README.md"))
        for exercise in module.exercises:
            id, shown, staff = (
                exercise.id,
                Path("exercises", module.id, exercise.id),
                Path("solutions", module.id, exercise.id),
            )
            known |= {shown / name for name in (f"{id}.py", "exercise.yaml", f"check_{id}.py", f"probe_{id}.py")}
            known |= {staff / name for name in (f"{id}.py", f"check_{id}.py", f"probe_{id}.py")}
            known |= {
                path.relative_to(course.root) for kind in ("wrong", "right") for path in solution_files(exercise, kind)
            }
    found = [path for top in ("exercises", "solutions") for path in (course.root / top).rglob("*") if path.is_file()]
    relative = [path.relative_to(course.root) for path in found if "__pycache__" not in path.parts]
    return sorted(path.as_posix() for path in relative if path not in known)


def write_digest(exercise: Exercise) -> bool:
    """Bring the digest of the starter in exercise.yaml up to date; tell whether that changed it."""
    path = exercise.folder / "exercise.yaml"
    text = path.read_text(encoding="utf-8")
    line = f"starter: {starter_digest(exercise.starter.read_bytes())}"
    if re.search(r"^starter:.*$", text, re.MULTILINE):
        new = re.sub(r"^starter:.*$", line, text, flags=re.MULTILINE)
    else:
        new = f"{text.rstrip()}\n{line}\n"
    path.write_text(new, encoding="utf-8")
    return new != text


def starter_digest(text: bytes) -> str:
    """Digest of a starter's code: blank lines, comments, the module's docstring and line ends do not count.

    So a starter whose text was mended is still untouched in the hands of a student who has the older one. The text may
    be a hostile student's: it is cut into tokens and never parsed.
    """
    plain = text.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    try:
        lines = _code_lines(plain)
    except (SyntaxError, ValueError, tokenize.TokenError, MemoryError, RecursionError):
        lines = plain.split("\n")
    code = "\n".join(line.rstrip() for line in lines if line.strip())
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def _code_lines(source: str) -> list[str]:
    lines = source.split("\n")
    first: list[tokenize.TokenInfo] = []  # the first statement
    complete = False
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
        elif token.type == tokenize.NEWLINE:
            complete = True
        elif not complete and token.type != tokenize.NL:
            first.append(token)
    if first and all(token.type == tokenize.STRING for token in first):
        del lines[first[0].start[0] - 1 : first[-1].end[0]]
    return lines


def contract_lines(source: str) -> dict[str, str]:
    """The numbered rules of a module docstring: "C1  text", with continuation lines, by name."""
    try:
        doc = ast.get_docstring(ast.parse(source)) or ""
    except (SyntaxError, ValueError):
        return {}
    rules: dict[str, str] = {}
    current = None
    for line in doc.splitlines():
        match = _CONTRACT_LINE.match(line)
        if match:
            current = match[1]
            rules[current] = match[2].strip()
        elif current and line.startswith(" ") and line.strip():
            rules[current] += " " + line.strip()
        else:
            current = None
    return rules


def _load_exercise(root: Path, module: str, id: str, limits: Limits, problems: list[str]) -> Exercise | None:
    folder, staff = root / "exercises" / module / id, root / "solutions" / module / id
    shown_as = f"exercises/{module}/{id}/exercise.yaml"
    file = _read(folder / "exercise.yaml", shown_as, ExerciseFile, problems)
    starter = folder / f"{id}.py"
    if file is None:
        return None
    assert isinstance(file, ExerciseFile)
    source = starter.read_bytes() if starter.is_file() else b""
    shown_checks, hidden_checks = folder / f"check_{id}.py", staff / f"check_{id}.py"
    reference = staff / f"{id}.py"
    if not shown_checks.is_file() and not hidden_checks.is_file():
        problems.append(f"exercises/{module}/{id}: there are no checks; write check_{id}.py")
    withheld = Withheld(file.withheld.checks, file.withheld.shares) if file.withheld else Withheld()
    return Exercise(
        id=id,
        number=file.number,
        title=file.title,
        module=module,
        kind=file.kind,
        difficulty=file.difficulty,
        points=round(file.points * 100),
        topics=tuple(file.topics),
        hints=tuple(file.hints),
        folder=folder,
        starter=starter,
        starter_digest=file.starter or "",
        shown_checks=shown_checks if shown_checks.is_file() else None,
        hidden_checks=hidden_checks if hidden_checks.is_file() else None,
        probes=tuple(path for path in (folder / f"probe_{id}.py", staff / f"probe_{id}.py") if path.is_file()),
        reference=reference if reference.is_file() else None,
        contract=contract_lines(source.decode("utf-8", "replace")),
        limits=_limits(limits, file.limits),
        withheld=Withheld() if hidden_checks.is_file() else withheld,
    )


def _staff_folder(exercise: Exercise) -> Path:
    root = exercise.folder.parents[2]
    return root / "solutions" / exercise.module / exercise.id


def _limits(base: Limits, entry: LimitsEntry) -> Limits:
    given = {field.name: getattr(entry, field.name) for field in fields(Limits)}
    return replace(base, **{name: value for name, value in given.items() if value is not None})


def _cross_problems(file: CourseFile, course: Course) -> Iterator[str]:
    ids = [id for entry in file.modules for id in entry.exercises]
    for id in sorted({id for id in ids if ids.count(id) > 1}):
        yield f"{COURSE_FILE}: modules: the exercise {id} is listed twice; an id is unique in the course"
    numbers = [exercise.number for exercise in course.exercises]
    for number in sorted({number for number in numbers if numbers.count(number) > 1}):
        yield f"{COURSE_FILE}: modules: two exercises have the number {number}; change it in one exercise.yaml"
    for handin in file.handins:
        for id in handin.exercises:
            if id not in ids:
                hint = _suggestion(id, ids)
                yield f"{COURSE_FILE}: handins.{handin.id}.exercises: there is no exercise {id}{hint}"


def _requirement_problems(requires: str | None) -> Iterator[str]:
    if requires is None:
        return
    try:
        requirement = Requirement(requires)
    except InvalidRequirement:
        yield f"{COURSE_FILE}: requires: {requires!r} is not a requirement such as tensorgrade>=0.1"
        return
    here = metadata.version("tensorgrade")
    if requirement.name != "tensorgrade" or here not in requirement.specifier:
        yield f"{COURSE_FILE}: requires: this course needs {requires}, here is tensorgrade {here}; update it"


class _Loader(yaml.SafeLoader):
    """YAML as everyone reads it, but a key that stands twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.MarkedYAMLError(problem=f"the key {key!r} stands twice", problem_mark=node.start_mark)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def _read_yaml(path: Path, shown_as: str, problems: list[str]) -> dict[Any, Any] | None:
    try:
        data = yaml.load(path.read_bytes(), _Loader)  # noqa: S506  a subclass of the safe loader
    except OSError as error:
        problems.append(f"{shown_as}: cannot be read ({error.strerror})")
        return None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        problems.append(f"{shown_as}:{line} is not valid YAML: {getattr(error, 'problem', error)}")
        return None
    if not isinstance(data, dict):
        problems.append(f"{shown_as}: must be a mapping of keys to values")
        return None
    return data


def _read(path: Path, shown_as: str, kind: type[BaseModel], problems: list[str]) -> BaseModel | None:
    data = _read_yaml(path, shown_as, problems)
    if data is None:
        return None
    try:
        return kind.model_validate(data)
    except ValidationError as invalid:
        problems.extend(f"{shown_as}: {_sentence(item, kind)}" for item in invalid.errors())
        return None


def _sentence(item: Any, kind: type[BaseModel]) -> str:
    """One problem that the validator found, as key and sentence."""
    where = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        known = _known_keys(kind, item["loc"][:-1])
        return f"{where}: unknown key{_suggestion(str(item['loc'][-1]), known)}"
    if item["type"] == "missing":
        return f"{where}: this key is missing"
    return f"{where}: {item['msg'][0].lower()}{item['msg'][1:]} (it is {item['input']!r})"


def _known_keys(kind: type[BaseModel], location: tuple[Any, ...]) -> list[str]:
    for part in location:
        if isinstance(part, int):
            continue
        annotation: Any = kind.model_fields[part].annotation
        inner = [annotation, *getattr(annotation, "__args__", ())]
        inner += [arg for item in inner for arg in getattr(item, "__args__", ())]
        found = [item for item in inner if isinstance(item, type) and issubclass(item, BaseModel)]
        if not found:
            return []
        kind = found[0]
    return list(kind.model_fields)


def _suggestion(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else (f"; known are {', '.join(known)}" if known else "")
