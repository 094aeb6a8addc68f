"""What may stand in course.yaml and exercise.yaml. Unknown keys are refused."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, model_validator

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")]
Positive = Annotated[float, Field(gt=0)]
TopicId = Annotated[str, Field(pattern=r"^[TX][0-9]+[a-z]?$|^X-[a-z]+$")]
DataName = Annotated[str, Field(pattern=r"^[\w-][\w.-]*(/[\w-][\w.-]*)*$")]
RuleName = Annotated[str, Field(pattern=r"^C[0-9]+$")]
Count = Annotated[int, Field(gt=0)]


class _Strict(BaseModel):
    # A misspelt key would otherwise be left out in silence, and a limit be the default's.
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
    points: Annotated[float, Field(ge=0, multiple_of=0.01)] = 0.0


class ExerciseFile(_Strict):
    """exercise.yaml."""

    number: Annotated[str, Field(pattern=r"^[0-9]{2}-[0-9]{1,2}$")]
    title: Annotated[str, Field(min_length=1)]
    kind: Literal["predict", "implement", "fix", "vectorise", "speed"]
    difficulty: Annotated[int, Field(ge=1, le=4)]
    points: Annotated[float, Field(gt=0, multiple_of=0.01)]
    topics: list[TopicId]
    needs: list[Name] = []
    minutes: Count | None = None
    hints: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=3, max_length=3)]
    starter: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")] | None = None
    files: list[DataName] = []
    values: list[Name] = []
    caps: dict[RuleName, Annotated[float, Field(ge=0, multiple_of=0.01)]] = {}
    limits: LimitsEntry = LimitsEntry()
    withheld: WithheldEntry | None = None
    counters: dict[str, dict[str, Annotated[int, Field(ge=0)]]] = {}
    retyped: list[str] = []


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
    attempts: Literal["latest", "best"] = "latest"
    limits: LimitsEntry = LimitsEntry()


class TopicEntry(_Strict):
    """One topic, with the source documents that it comes from."""

    name: Annotated[str, Field(min_length=1)]
    documents: Annotated[list[str], Field(alias="from")] = []

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, entry: object) -> object:
        return {"name": entry} if isinstance(entry, str) else entry


class TopicsFile(RootModel[dict[TopicId, TopicEntry]]):
    """topics.yaml: a name or an entry for each id."""


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schemas of the two YAML files, by file name."""
    return {
        "course.schema.json": CourseFile.model_json_schema(),
        "exercise.schema.json": ExerciseFile.model_json_schema(),
    }
