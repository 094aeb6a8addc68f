"""What a check process does once it knows its plan."""

from __future__ import annotations

import linecache
import mmap
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from grader.check.declare import Accelerator
from grader.connection.fork import ForkStarter
from grader.connection.process import Starter
from grader.connection.record import waiting
from grader.connection.spawn import SpawnStarter
from grader.model import Device
from grader.model.messages import PENDING, Plan, PlannedExercise, Spawned
from grader.sandbox import cgroup
from grader.sandbox.slow_imports import leave_slow_imports_out
from grader.sandbox.sweep import sweep
from grader.session.connections import Connections
from grader.session.given import Fixtures
from grader.session.host import Host
from grader.session.named_device import name_the_device
from grader.session.plugin import CheckSession
from grader.session.self_test import self_test
from grader.session.shared import share

_INI = Path(__file__).with_name("pytest.ini")
# Each of these would do something of its own between checks: capture output, write files, install handlers or hooks,
# print. Outcomes are told by `Host`, and the streams are the channel's.
_PLUGINS_OFF = (
    *("cacheprovider", "capture", "doctest", "faulthandler", "junitxml", "logging", "pastebin", "setuponly"),
    *("setupplan", "stepwise", "terminal", "threadexception", "unraisableexception"),
)


def run(host: Host, plan: Plan, server: int | None, groups: cgroup.Groups | None = None) -> None:
    """Collect the checks of all exercises, then grade jobs until there are no more.

    Args:
        host: who gives work and is told of outcomes.
        plan: what this process is there for.
        server: a descriptor of the socket to the worker server; None if workers are spawned.
        groups: where control groups of workers can be made.
    """
    # There is a check process for each lane; threads of theirs would take the cores from the workers.
    torch.set_num_threads(1)
    leave_slow_imports_out()
    name_the_device()
    accelerator = Accelerator()
    if plan.accelerator is Device.CUDA:
        accelerator = Accelerator(Device.CUDA, torch.cuda.device_count())
    starter: Starter
    if server is not None:
        if groups is not None:
            # A grader that was killed could not remove its groups. Nobody else knows their names.
            groups.sweep()
        starter = ForkStarter(socket.socket(fileno=server), plan.root, groups)
    else:
        roomy = plan.accelerator is Device.CUDA
        starter = SpawnStarter(plan.root, plan.spawn, lambda pid: host.tell(Spawned(pid)), roomy=roomy)
    with open(plan.root / PENDING, "r+b") as file:
        waiting.mark = mmap.mmap(file.fileno(), 1)
    try:
        # First of all: a machine on which no worker works must not look like a class of crashed submissions.
        self_test(starter)
        next_plan: Plan | None = plan
        while next_plan is not None:
            with _forgotten(next_plan):
                run_session(host, next_plan.exercises, Connections(starter), accelerator, next_plan.root)
            next_plan = host.next_plan()
    finally:
        starter.close()
        sweep(str(plan.root))  # the host does it too, unless it was killed


@contextmanager
def _forgotten(plan: Plan) -> Iterator[None]:
    """Forget modules of the course afterwards: its files may be others when they are planned again."""
    before = set(sys.modules)
    files = (path for item in plan.exercises for path in item.files if path is not None)
    folders = {path.parent for path in files}
    yield
    linecache.checkcache()
    for name in set(sys.modules) - before:
        place = getattr(sys.modules[name], "__file__", None)
        if place and folders & set(Path(place).parents):
            del sys.modules[name]


def run_session(
    host: Host,
    planned: Sequence[PlannedExercise],
    connections: Connections,
    accelerator: Accelerator,
    root: Path,
) -> None:
    """Collect the checks of all exercises, then grade jobs until there are no more.

    Args:
        host: who gives work and is told of outcomes.
        planned: all exercises.
        connections: meets the students and the references; closed at the end.
        accelerator: what checks of devices run on.
        root: a private folder, for the folders of checks.
    """
    # Nothing that happens to be installed or set on this machine may change a verdict.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    paths = [str(path) for item in planned for path in (item.shown_checks, item.hidden_checks) if path is not None]
    options = [option for name in _PLUGINS_OFF for option in ("-p", f"no:{name}")]
    options += ["-p", "pytest_timeout", "-c", str(_INI), "--noconftest", "--import-mode=importlib"]
    options += ["--timeout=1"]  # switches the timer on; how long it runs is the exercise's limit
    share(planned)
    top = os.path.commonpath([str(Path(path).parent) for path in paths]) if paths else "."
    session = CheckSession(host, planned, connections, accelerator)
    fixtures = Fixtures(session.current, accelerator, root)
    try:
        if paths:
            # One check file that cannot be read must not keep the others from being graded.
            options.append("--continue-on-collection-errors")
            # pytest lists no folder above the last one, and this process may not.
            pytest.main([*options, f"--rootdir={top}", f"--confcutdir={top}", *paths], plugins=[session, fixtures])
        else:
            session.tell_checks()
            session.run_jobs()
    finally:
        connections.close()
