"""Processes that a program starts get the device that the program has: spawned ones, and those of `torchrun`.

A variable of the environment says what device that is. Python reads it at the start of a process, by
`startup/sitecustomize.py`, whose folder is put into PYTHONPATH. An isolated interpreter reads neither.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from grader.accelerator.enabling import enable
from grader.accelerator.sim.gpus import spec_of
from grader.accelerator.sim.machine import Machine, machine_or_none
from grader.accelerator.sim.spec import GIB, Spec

_VARIABLE = "GRADER_ACCELERATOR"
"""How many devices there are, the name of the GPU if one is imitated, and the GiB of each if given: `2 a100 4`."""

_STARTUP = str(Path(__file__).parent / "startup")


def enable_for_all(gpu: str, devices: int, gib: int | None = None) -> Machine:
    """Simulate CUDA in this process, and in all processes that it starts.

    Args:
        gpu: the name of the GPU to imitate; "" for none.
        devices: the number of devices.
        gib: the memory of each, in GiB; None for that of the GPU.

    Raises:
        ValueError: no GPU has this name.
        RuntimeError: another device is simulated already.
    """
    machine = machine_or_none()
    # Processes of pytest-xdist, and pytest within pytest, find the one that they ask for.
    if machine is None or (machine.kind, len(machine.devices), machine.spec) != ("cuda", devices, _spec(gpu, gib)):
        machine = _enable(gpu, devices, gib)
    os.environ[_VARIABLE] = " ".join(filter(None, (str(devices), gpu, str(gib or ""))))
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join([_STARTUP, *(path for path in paths if path not in ("", _STARTUP))])
    return machine


def simulate_like_parent() -> None:
    """Simulate in this process the CUDA that its parent process simulates.

    The environment variable GRADER_ACCELERATOR says it: `2 a100 4` stands for two devices that imitate an A100, each
    with 4 GiB of memory.
    """
    devices, *more = os.environ[_VARIABLE].split()
    gpu = next((word for word in more if not word.isdecimal()), "")
    gib = next((int(word) for word in more if word.isdecimal()), None)
    if machine_or_none() is None:
        _enable(gpu, int(devices), gib)


def _enable(gpu: str, devices: int, gib: int | None) -> Machine:
    machine = enable("cuda", indices=devices, spec=_spec(gpu, gib))
    assert machine is not None
    return machine


def _spec(gpu: str, gib: int | None) -> Spec:
    spec = spec_of(gpu) if gpu else Spec()
    return spec if gib is None else replace(spec, memory=gib * GIB)
