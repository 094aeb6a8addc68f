"""What every exporter does last: a file that its platform would refuse is refused here, before it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict

from grader.model.errors import GraderError

Visibility = Literal["hidden", "after_due_date", "after_published", "visible"]
"""When students see a test, in Gradescope's words."""


@dataclass(frozen=True)
class Options:
    """What a report does not say, and some formats need.

    Attributes:
        environ: the environment, in which platforms tell what is graded.
        points: whether points may be told: everybody reads what a public repository's workflow prints.
        hidden: when students see hidden checks, where a platform lets one choose.
        folder: of the submission, from the root of the repository; None if it lies outside.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    points: bool = True
    hidden: Visibility = "after_published"
    folder: str | None = ""

    def path_of(self, file: str | None) -> str | None:
        """A file of the submission, as a path from the root of the repository."""
        if file is None or self.folder is None:
            return None
        return f"{self.folder}/{file}" if self.folder else file


class Shape(BaseModel):
    """Part of a platform's file: its keys and values are checked as it is made, and nothing else gets in."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True)


def as_text(name: str, made: Shape, largest: int) -> str:
    """A platform's JSON file; keys of which nothing is known are left out.

    Raises:
        GraderError: it is larger than the platform takes.
    """
    plain = made.model_dump(mode="json", by_alias=True, exclude_none=True)
    return too_large(name, json.dumps(plain, indent=1, ensure_ascii=True) + "\n", largest)


def too_large(name: str, text: str, largest: int) -> str:
    """The text itself.

    Raises:
        GraderError: it is larger than the platform takes.
    """
    if len(text.encode("utf-8")) > largest:
        raise GraderError(f"the {name} file would have more than {largest:,} bytes, which its platform refuses")
    return text


def cut(text: str, most: int) -> str:
    """A text that is no longer than that, and says so where it ends early."""
    if len(text) <= most:
        return text
    kept = text[:most].rpartition("\n")[0] or text[:most]
    return f"{kept}\n({len(text) - len(kept)} more characters)"


def number(hundredths: int) -> float | int:
    """Points as JSON has them: whole ones without a fraction."""
    return hundredths // 100 if hundredths % 100 == 0 else hundredths / 100
