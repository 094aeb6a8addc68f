"""What this machine can do: the facts that a report of trouble needs, and how well student code is confined."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.confinement import Reached, Wish
from grader.grading import environment, open_source


@dataclass(frozen=True)
class Examination:
    """What was found.

    Attributes:
        facts: names and values.
        reached: how well student code is confined.
    """

    facts: Mapping[str, Any]
    reached: Reached


def examine(start: str) -> Examination:
    """Start workers as a batch would, and try what they can do.

    Args:
        start: "fork" or "spawn".

    Raises:
        StartError: no worker can be started.
    """
    about = environment(0, start, None)
    facts = {
        "grader": about["grader"],
        "Python": about["python"],
        "torch": about["torch"],
        "numpy": about["numpy"],
        "system": about["os"],
        "processors": os.cpu_count(),
        "user": _user(),
        "workers start by": start,
    }
    with open_source(start, Wish()) as source:
        return Examination(facts, source.wait_ready())


def _user() -> str:
    if hasattr(os, "getuid") and os.getuid() == 0:
        return "root"
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a number without a name, as in many containers
        return str(os.getuid())
