"""The roster of a class, as it was copied into the folder of results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from grader.report.people import NOBODY, People, people_in

ROSTER = "roster.csv"
"""The copy of the last roster, in the folder of results."""


def roster_in(out: Path, names: Mapping[str, str], platform: str = "") -> People:
    """The people of the roster in a folder of results; nobody without one.

    Args:
        out: the folder.
        names: of people by the numbers that their submissions have.
        platform: whose numbers these are; "" if nothing says it.

    Raises:
        CourseError: it cannot be read.
    """
    path = out / ROSTER
    return people_in(path, names, platform) if path.is_file() else NOBODY
