"""What this machine can do: the facts that a report of trouble needs, and how well student code is confined."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from grader.model.messages import Setup, Start
from grader.runner.environment import describe_machine
from grader.runner.source import open_source
from grader.runner.walls import Reached, WallPlan


@dataclass(frozen=True)
class Examination:
    """What was found.

    Attributes:
        facts: names and values.
        reached: how well student code is confined.
        checks: what a check process cannot be denied here.
    """

    facts: Mapping[str, object]
    reached: Reached
    checks: Sequence[str] = ()


def examine(setup: Setup) -> Examination:
    """Start workers as a batch would, and try what they can do.

    Raises:
        StartError: no worker can be started.
    """
    machine = describe_machine(setup, None)
    facts = {
        "grader": machine.grader,
        "Python": machine.python,
        "torch": machine.torch,
        "numpy": machine.numpy,
        "system": machine.os,
        "processors": os.cpu_count(),
        "user": _user(),
        "workers start by": machine.start,
    }
    # With no least level: what is missing is to be shown, not refused.
    with closing(open_source(setup.start, WallPlan())) as source:
        return Examination(facts, source.wait_ready(), _checks(setup))


def _checks(setup: Setup) -> list[str]:
    if setup.start is not Start.FORK:
        return ["check processes are confined only where workers are forked"]
    from grader.sandbox.check_process import refused_here

    return refused_here()


def _user() -> str:
    if hasattr(os, "getuid") and os.getuid() == 0:
        return "root"
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a number without a name, as in many containers
        return str(os.getuid())
