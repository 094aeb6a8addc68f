"""This machine: what a report says of it, and for `grade doctor` what it can do.

The host never imports torch: versions are metadata.
"""

from __future__ import annotations

import functools
import getpass
import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib import metadata

from grader.model import Device, Environment
from grader.model.messages import Level, Setup, Start
from grader.runner.confinement import Reached, SandboxPlan
from grader.runner.source import open_source

_version = functools.cache(metadata.version)  # it parses a file each time, and each author has a report


def describe_machine(setup: Setup, reached: Level | None) -> Environment:
    """What a report says of the machine.

    Args:
        setup: of the run.
        reached: the level of confinement; None if no student code was run.
    """
    return Environment(
        python=platform.python_version(),
        torch=_version("torch"),
        numpy=_version("numpy"),
        os=f"{platform.system()} {platform.release()} {platform.machine()}",
        device="cuda" if setup.accelerator is Device.CUDA else "cpu",
        threads=1,
        seed=None if setup.secret else setup.seed,
        start=setup.start.value,
        confinement=reached.word if reached is not None else None,
        grader=_version("tensorgrade"),
    )


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
    with closing(open_source(setup.start, SandboxPlan())) as source:
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
