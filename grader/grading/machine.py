"""What this machine can do, for `grade doctor`: workers are started as a batch would, and try what they can do."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from grader.grading.store import describe_machine
from grader.model.messages import Level, Setup, Start
from grader.runner.confinement import Reached, SandboxPlan
from grader.runner.source import open_source

_MEANING = {
    Level.FULL: "student code sees the interpreter and nothing else, and leaves nothing behind",
    Level.REDUCED: "student code cannot read your files, use the network or start processes",
    Level.NONE: "student code runs in a process of its own with limits, but can do what you can do",
}


@dataclass(frozen=True)
class Tried:
    """One thing that student code must not be able to do, or must: at which level, and why it does not hold, or ""."""

    name: str
    level: str
    sentence: str
    found: str


@dataclass(frozen=True)
class Examination:
    """What a machine can do.

    Attributes:
        facts: names and values.
        confinement: the level that is reached.
        meaning: of that level, in words.
        tried: what workers tried.
        missing: what full confinement needs.
        check_processes: what a check process cannot be denied here.
    """

    facts: Mapping[str, object]
    confinement: str
    meaning: str
    tried: Sequence[Tried]
    missing: Sequence[str]
    check_processes: Sequence[str]

    @classmethod
    def of(cls, facts: Mapping[str, object], reached: Reached, check_processes: Sequence[str]) -> Examination:
        """What the probes of a worker and of a check process show."""
        promises = [(row.promise, row.found) for row in reached.findings]
        tried = [Tried(promise.name, promise.level.word, promise.sentence, found) for promise, found in promises]
        # Of the highest level, whatever the run requires: a reader decides what is worth doing.
        missing = [] if reached.level is Level.FULL else reached.missing(Level.FULL)
        return cls(facts, reached.level.word, _MEANING[reached.level], tried, missing, check_processes)


def examine(setup: Setup) -> Examination:
    """Try what workers can do.

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
    refused = ["check processes are confined only where workers are forked"]
    if setup.start is Start.FORK:
        from grader.sandbox.check_process import refused_here  # Linux alone has what it imports

        refused = refused_here()
    # With no least level: what is missing is to be shown, not refused.
    with closing(open_source(setup.start, SandboxPlan())) as source:
        return Examination.of(facts, source.wait_ready(), refused)


def _user() -> str:
    if hasattr(os, "getuid") and os.getuid() == 0:
        return "root"
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a number without a name, as in many containers
        return str(os.getuid())
