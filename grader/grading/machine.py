"""What this machine can do, for `grade doctor`: workers are started as a batch would, and try what they can do."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from grader.grading.store import describe_machine
from grader.model.messages import Level, Setup
from grader.runner.source import Reached, SandboxPlan, open_source
from grader.sandbox import cgroup

MEANING = {
    Level.FULL: "student code sees the interpreter and nothing else, and leaves nothing behind",
    Level.REDUCED: "student code cannot read your files, use the network or start processes",
    Level.NONE: "student code runs in a process of its own with limits, but can do what you can do",
}


@dataclass(frozen=True)
class Examination:
    """What a machine can do.

    Attributes:
        facts: names and values.
        reached: the level of confinement, and what workers tried.
    """

    facts: Mapping[str, object]
    reached: Reached

    @property
    def missing(self) -> Sequence[str]:
        """What full confinement needs, also where the run requires less: a reader decides what is worth doing."""
        return [] if self.reached.level is Level.FULL else self.reached.missing(Level.FULL)


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
        "workers start by": machine.start,
        "check processes": f"memory is {'' if cgroup.find() else 'not '}limited by a control group",
    }
    # With no least level: what is missing is to be shown, not refused.
    with closing(open_source(setup.start, SandboxPlan())) as source:
        return Examination(facts, source.wait_ready())
