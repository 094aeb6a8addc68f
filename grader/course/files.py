"""The YAML files of a course: what may stand in them, and reading them.

Each problem is a sentence with file, key, and a suggestion. Unknown keys are refused.
"""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import unquote, urlsplit

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    RootModel,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from grader.model.errors import CourseError
from grader.model.files import failing_as, read_limited

File = TypeVar("File", bound=BaseModel)

_MOST_NAMED = 50
"""A sentence lists no more names than these."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")]
Positive = Annotated[float, Field(gt=0)]
TopicId = Annotated[str, Field(pattern=r"^[TX][0-9]+[a-z]?$|^X-[a-z]+$")]
DataName = Annotated[str, Field(pattern=r"^[\w-][\w.-]*(/[\w-][\w.-]*)*$")]
RuleName = Annotated[str, Field(pattern=r"^C[0-9]+$")]
CheckName = Annotated[str, Field(pattern=r"^\w+(\[.+\])?$")]
Count = Annotated[int, Field(gt=0)]
_IN_URL = r"[\w.-]+(:[0-9]+)?(/[\w.~:@%+,=&#/-]*)?"
"""The rest of an address: what a shell and a requirement take as it is between quotation marks."""


def to_datetime(value: object) -> object:
    """Convert a date or a time to a datetime; a date becomes the end of that day.

    `2026-03-01`, as a text or as a date that YAML read, becomes 2026-03-01 23:59:59. A value that is neither a text nor
    a date is returned unchanged.

    Raises:
        ValueError: a text is neither a date nor a time.
    """
    if isinstance(value, str):
        try:
            is_day = len(value) <= len("2026-03-01")
            value = (datetime.date if is_day else datetime.datetime).fromisoformat(value)
        except ValueError:
            raise ValueError("expected a date such as 2026-03-01 or 2026-03-01 23:59") from None
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return datetime.datetime.combine(value, datetime.time(23, 59, 59))
    return value


Moment = Annotated[datetime.datetime, BeforeValidator(to_datetime), WithJsonSchema({"type": "string"})]
AuthorName = Annotated[str, Field(min_length=1, coerce_numbers_to_str=True)]
Percent = Annotated[float, Field(ge=0, le=100, multiple_of=0.01)]
Points = Annotated[float, Field(ge=0, multiple_of=0.01)]
Natural = Annotated[int, Field(ge=0)]


def is_wheel(name: str) -> bool:
    """Return whether a file name is that of a wheel of the package `tensorgrade`."""
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename  # few courses name one

    try:
        return parse_wheel_filename(name)[0] == "tensorgrade"
    except InvalidWheelFilename:
        return False


_TAKEN = ("torch", "numpy")


def validate_without(packages: tuple[str, ...]) -> tuple[str, ...]:
    """Check the packages of the key `without` in exercise.yaml, and return them.

    They are what the exercise is solved without. `[torch, numpy]` is right, `[torch, numpy, pandas]` too, and `[torch]`
    is an error: a worker has either all packages or only the standard library.

    Raises:
        ValueError: packages are listed, and torch or NumPy is not among them.
    """
    if packages and not {*_TAKEN} <= {*packages}:
        lacking = " and ".join(name for name in _TAKEN if name not in packages)
        raise ValueError(f"add {lacking}: a worker has either all installed packages, or the standard library alone")
    return packages


class Strict(BaseModel):
    """A pydantic model that refuses unknown keys."""

    # A misspelt key would otherwise be left out in silence, and a limit be the default's. What checks a file is built
    # when the first is read: a student waits for it, and meets two kinds of files.
    model_config = ConfigDict(extra="forbid", defer_build=True)


class LimitsEntry(Strict):
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


class RoundEntry(Strict):
    """One question of a drill: two lines, and why the second changes the watched name, or does not."""

    lines: Annotated[list[str], Field(min_length=2, max_length=2)]
    why: str


class QuestionEntry(Strict):
    """One question of a drill: lines that end with an expression, wrong outputs to choose from, and the reason.

    `since` is the version since which the answer is another one. `holds` has what must be true as well for the reason.
    """

    lines: Annotated[list[str], Field(min_length=1)]
    wrong: Annotated[list[str], Field(min_length=1)]
    why: str
    exercise: Name | None = None
    since: str = ""
    holds: list[str] = []


class DrillFile(Strict):
    """A module's drill.yaml: questions with choices, and rounds, which are answered with yes or no."""

    start: str = ""
    questions: list[QuestionEntry] = []
    given: str = ""
    question: str = ""
    watch: Name | None = None
    exercise: Name | None = None
    rounds: list[RoundEntry] = []

    @model_validator(mode="after")
    def _asks(self) -> DrillFile:
        if self.rounds and not (self.watch and self.question):
            raise ValueError("rounds need a `question`, and `watch`, the name that a line may change")
        if not self.rounds and not self.questions:
            raise ValueError("there is no question; write `questions` or `rounds`")
        return self


class WithheldEntry(Strict):
    """The hidden checks that a released copy does not have."""

    checks: Natural
    shares: Natural
    points: Points = 0.0


class ViewEntry(Strict):
    """A tensor of an example, as a view on the storage."""

    shape: list[Natural]
    strides: list[Natural]
    offset: Natural = 0

    def end(self) -> int:
        """Return the smallest number of elements that the storage of this view can have.

        For shape `[2, 3]`, strides `[3, 1]` and offset 0 it is 6.
        """
        steps = ((size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True))
        return self.offset + sum(steps) + 1 if 0 not in self.shape else self.offset


class ExampleEntry(Strict):
    """The example that `grade show` draws below a task: tensors on one storage, or shapes that are broadcast."""

    storage: Count | None = None
    views: dict[str, ViewEntry] = {}
    broadcast: dict[str, list[Natural]] = {}

    @model_validator(mode="after")
    def _fits(self) -> ExampleEntry:
        for name, view in self.views.items():
            if len(view.shape) != len(view.strides):
                raise ValueError(f"{name} has {len(view.shape)} sizes and {len(view.strides)} strides")
            if view.end() > (self.storage or 0):
                raise ValueError(f"{name} needs a `storage` of {view.end()} elements or more")
        return self


class RubricEntry(Strict):
    """A sentence that a person may choose when they grade a rule, and the points that the rule then gets."""

    points: Points
    says: Annotated[str, Field(min_length=1)]


class RuleEntry(Strict):
    """A rule that no check examines: who gives its points, how many, and for what."""

    by: Literal["staff"]
    points: Annotated[float, Field(gt=0, multiple_of=0.01)]
    rubric: list[RubricEntry] = []

    @model_validator(mode="after")
    def _fits(self) -> RuleEntry:
        if most := max((entry.points for entry in self.rubric if entry.points > self.points), default=0):
            raise ValueError(f"its rubric gives {most:g} points, and the rule has {self.points:g}")
        return self


class ExerciseFile(Strict):
    """The content of exercise.yaml."""

    number: Annotated[str, Field(pattern=r"^[0-9]{2}-[0-9]{1,2}$")]
    title: Annotated[str, Field(min_length=1)]
    kind: Literal["predict", "implement", "fix", "vectorise", "speed"]
    difficulty: Annotated[int, Field(ge=1, le=4)]
    points: Annotated[float, Field(gt=0, multiple_of=0.01)]
    topics: tuple[TopicId, ...]
    needs: tuple[Name, ...] = ()
    minutes: Count | None = None
    example: ExampleEntry | None = None
    par: Count | None = None
    hints: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=3, max_length=3)]
    starter: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")] | None = None
    files: list[DataName] = []
    without: Annotated[tuple[Name, ...], AfterValidator(validate_without)] = ()
    values: tuple[Name, ...] = ()
    caps: dict[Name, Points] = {}
    limits: LimitsEntry = Field(default_factory=LimitsEntry)
    withheld: WithheldEntry | None = None
    counters: dict[str, dict[str, Natural]] = {}
    void: tuple[CheckName, ...] = ()
    rules: dict[RuleName, RuleEntry] = {}
    by: Literal["staff"] | None = None


class ModuleEntry(Strict):
    """One module in course.yaml."""

    folder: Name
    title: Annotated[str, Field(min_length=1)]
    exercises: list[Name]


class HandInEntry(Strict):
    """One hand-in in course.yaml."""

    id: Name
    title: Annotated[str, Field(min_length=1)]
    exercises: Annotated[tuple[Name, ...], Field(min_length=1)]
    due: Moment | None = None
    weight: Positive = 1.0
    column: str | None = None
    extra: tuple[Name, ...] = ()
    drop: Natural = 0
    extensions: dict[AuthorName, Moment] = {}
    late_days: dict[AuthorName, Natural] = {}


class PolicyEntry(Strict):
    """The costs of late work, and what does not count over the term."""

    percent_a_day: Percent = 0.0
    cap_percent: Percent = 100.0
    slack_minutes: Natural = 0
    grace_days: Natural = 0
    drop: Natural = 0


class InstallEntry(Strict):
    """The source from which the grader is installed, in course.yaml: exactly one of its keys."""

    address: Annotated[str, Field(pattern=rf"^(git\+ssh://(\w+@)?|(git\+)?https://){_IN_URL}$")] = ""
    wheel: Annotated[str, Field(pattern=r"^[\w-][\w.+-]*(/[\w-][\w.+-]*)*$")] = ""
    index: Annotated[str, Field(pattern=rf"^https://{_IN_URL}$")] = ""

    @model_validator(mode="after")
    def _is_one(self) -> InstallEntry:
        given = [name for name in InstallEntry.model_fields if getattr(self, name)]
        if len(given) != 1:
            raise ValueError(f"write exactly one of address, wheel and index; there is {' and '.join(given) or 'none'}")
        # What is neither a repository nor a wheel no installer could take for the grader.
        name = (self.wheel or urlsplit(self.address).path).rpartition("/")[2]
        if not self.index and not self.address.startswith("git+") and not is_wheel(unquote(name)):
            raise ValueError(
                f"{name!r} is not the name of a wheel of the grader, such as tensorgrade-0.1.0-py3-none-any.whl; the "
                "address of a repository begins with git+https://"
            )
        return self


class CourseFile(Strict):
    """The content of course.yaml."""

    title: Annotated[str, Field(min_length=1)]
    requires: str | None = None
    install: InstallEntry | None = None
    modules: list[ModuleEntry]
    handins: list[HandInEntry] = []
    timezone: str | None = None
    policy: PolicyEntry = Field(default_factory=PolicyEntry)
    attempts: Literal["latest", "best"] = "latest"
    limits: LimitsEntry = Field(default_factory=LimitsEntry)


class TopicEntry(Strict):
    """One topic, with the source documents that it comes from."""

    name: Annotated[str, Field(min_length=1)]
    documents: Annotated[list[str], Field(alias="from")] = []

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, entry: object) -> object:
        return {"name": entry} if isinstance(entry, str) else entry


class TopicsFile(RootModel[dict[TopicId, TopicEntry]]):
    """The content of topics.yaml: a name or an entry for each id."""

    model_config = ConfigDict(defer_build=True)


def _split_at_commas(value: object) -> object:
    """Split a text such as `C1, C3` into a list; return any other value unchanged."""
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


class RightEntry(Strict):
    """One right answer in right.yaml, with `replace` or `code` or both."""

    says: Annotated[str, Field(min_length=1)]
    replace: dict[str, str] = {}
    code: str = ""

    @model_validator(mode="after")
    def _differs(self) -> RightEntry:
        if not self.replace and not self.code:
            raise ValueError("it does not differ from the reference; write `replace` or `code`")
        return self


class WrongEntry(RightEntry):
    """One wrong answer in wrong.yaml."""

    caught_by: Annotated[CheckName, Field(alias="caught by")]
    breaks: Annotated[list[RuleName], BeforeValidator(_split_at_commas)] = []


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas of course.yaml and exercise.yaml, by the names of their files."""
    return {
        "course.schema.json": CourseFile.model_json_schema(),
        "exercise.schema.json": ExerciseFile.model_json_schema(),
    }


# Written in C it takes a seventh of the time, which a student waits for; not every PyYAML has it.
_Safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


_MOST_YAML, _DEEPEST_YAML, _MOST_VALUES = 4 << 20, 50, 200_000
"""The largest file of the bundled course has 16 kB, three levels and some hundred values."""


class _Loader(_Safe):  # type: ignore[misc]
    """Loads YAML, but raises an error for a key that is given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        # YAML takes the last of two equal keys in silence, so a line of the file would do nothing.
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.MarkedYAMLError(problem=f"the key {key!r} is given twice", problem_mark=node.start_mark)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def read_yaml(path: Path, shown_as: str) -> dict[Any, Any]:
    """Read a YAML file and return the mapping that it contains.

    Raises:
        CourseError: the file is not a mapping, or cannot be read.
    """
    with failing_as(f"{shown_as}: cannot be read"):
        content = read_limited(path, _MOST_YAML)
    return parse_yaml(content, shown_as)


def parse_yaml(content: bytes, shown_as: str) -> dict[Any, Any]:
    """Parse the content of a YAML file and return the mapping that it contains.

    Raises:
        CourseError: it is not a mapping, nests too deeply, or repeats too much.
    """
    try:
        # Bytes, so that YAML finds out the encoding and reports a wrong one like any other problem.
        _refuse_huge_yaml(content, shown_as)
        data = yaml.load(content, _Loader)  # noqa: S506  a subclass of the safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        raise CourseError(f"{shown_as}:{line} is not valid YAML: {getattr(error, 'problem', error)}") from None
    if not isinstance(data, dict):
        raise CourseError(f"{shown_as}: must be a mapping of keys to values")
    return data


def _refuse_huge_yaml(content: bytes, shown_as: str) -> None:
    """Raise an error for YAML that nests too deeply or repeats too much.

    Loading it could exhaust the stack, as the loader calls itself for each level, or the memory, as each alias is a
    copy.

    Raises:
        CourseError: it nests too deeply or repeats too much.
    """
    open_sizes, sizes, opened = [0], dict[str | None, int](), list[str | None]()
    for event in yaml.parse(content, _Safe):
        match event:
            case yaml.CollectionStartEvent():
                open_sizes.append(1)
                opened.append(event.anchor)
            case yaml.CollectionEndEvent():
                size = open_sizes.pop()
                sizes[opened.pop()] = size
                open_sizes[-1] += size
            case yaml.AliasEvent():
                open_sizes[-1] += sizes.get(event.anchor, 1)
            case yaml.ScalarEvent():
                open_sizes[-1] += 1
            case _:
                continue
        if len(opened) > _DEEPEST_YAML or open_sizes[-1] > _MOST_VALUES:
            mark = event.start_mark
            line = mark.line + 1 if mark else 0
            limit = (
                f"nest at most {_DEEPEST_YAML} levels, and be at most {_MOST_VALUES:,} with those that `*name` repeats"
            )
            raise CourseError(f"{shown_as}: line {line}: there is too much in it; values can {limit}")


def read_file(path: Path, shown_as: str, kind: type[File]) -> File:
    """Read a YAML file of a course and return it as its model, such as `CourseFile`.

    Args:
        path: the path of the file.
        shown_as: its path in messages.
        kind: the class of the model.

    Raises:
        CourseError: the file cannot be read or does not fit the model; it lists every problem.
    """
    return validate(read_yaml(path, shown_as), shown_as, kind)


def validate(data: object, shown_as: str, kind: type[File]) -> File:
    """Convert the parsed data of a file to its model, such as `CourseFile`.

    Args:
        data: the data that the parser returned.
        shown_as: the file's path in messages.
        kind: the class of the model.

    Raises:
        CourseError: the data do not fit the model; it lists every problem.
    """
    try:
        return kind.model_validate(data)
    except ValidationError as invalid:
        raise CourseError(*(f"{shown_as}: {_problem_text(item, kind)}" for item in invalid.errors())) from None


def _problem_text(item: Any, kind: type[BaseModel]) -> str:
    """Turn an error that pydantic found in a YAML file into a text for its author.

    It is the key, then a sentence: "pionts: unknown key; did you mean points?"
    """
    where = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return f"{where}: unknown key{suggestion(str(item['loc'][-1]), _known_keys(kind, item['loc'][:-1]))}"
    if item["type"] == "missing":
        return f"{where}: this key is missing"
    said = item["msg"].removeprefix("Value error, ")
    if said == item["msg"]:  # pydantic's own words; what Python calls a tuple is a list in YAML
        said = said.replace("Tuple", "List").replace("tuple", "list")
    return f"{where}: {said[0].lower()}{said[1:]} (it is {item['input']!r})"


def _known_keys(kind: type[BaseModel], location: tuple[Any, ...]) -> list[str]:
    """Return the keys that a model allows at a location in it; [] where any key is allowed.

    For `CourseFile` and the location `("modules", 0)` they are `["folder", "title", "exercises"]`.
    """
    for part in location:
        if isinstance(part, int):
            continue
        # A file whose keys are free has one field, which says what stands below each of them.
        named = {field.alias or name: field for name, field in kind.model_fields.items()}
        annotation: Any = (named.get(part) or kind.model_fields["root"]).annotation
        # A key may be optional or a list; the schema is inside.
        inner = [annotation, *getattr(annotation, "__args__", ())]
        inner += [arg for item in inner for arg in getattr(item, "__args__", ())]
        models = [item for item in inner if isinstance(item, type) and issubclass(item, BaseModel)]
        if not models:
            return []
        kind = models[0]
    return [field.alias or name for name, field in kind.model_fields.items()]


def suggestion(name: str, known: Sequence[str], most: int = 1) -> str:
    """Return the end of a sentence about an unknown name: the name that was meant.

    For `pionts` and the known names `points` and `title` it is "; did you mean points?". Without a near name, all known
    ones are listed, as in "; known are points, title". If these are more than 50, the result is "".

    Args:
        name: the unknown name.
        known: the known names.
        most: the largest number of near names, as in "; did you mean points or paints?".
    """
    if near := difflib.get_close_matches(name, known, n=most):
        return f"; did you mean {' or '.join(near)}?"
    return f"; known are {', '.join(known)}" if 0 < len(known) <= _MOST_NAMED else ""
