"""What a report says of this machine.

The host never imports torch: versions are metadata.
"""

from __future__ import annotations

import functools
import platform
from importlib import metadata

from grader.model import Device, Environment
from grader.model.messages import Level, Setup

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
