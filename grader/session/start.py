"""What a check process does once it knows its plan: it prepares itself, and runs pytest."""

from __future__ import annotations

import contextlib
import linecache
import mmap
import os
import socket
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.backend_registration import rename_privateuse1_backend

from grader.check.declare import Accelerator
from grader.connection.record import waiting
from grader.connection.starting import ForkStarter, SpawnStarter, Starter
from grader.model import Device
from grader.model.messages import PENDING, Plan, PlannedExercise, Spawned
from grader.sandbox import cgroup
from grader.sandbox.process import sweep
from grader.sandbox.slow_imports import leave_slow_imports_out
from grader.session.connections import Connections
from grader.session.host import Host
from grader.session.plugin import CheckSession

_INI = Path(__file__).with_name("pytest.ini")
# Each of these would do something of its own between checks: capture output, write files, install handlers or hooks,
# print. `Host` sends the outcomes, and the streams are the channel's.
_PLUGINS_OFF = (
    *("cacheprovider", "capture", "doctest", "faulthandler", "junitxml", "logging", "pastebin", "setuponly"),
    *("setupplan", "stepwise", "terminal", "threadexception", "unraisableexception"),
)

_NONE_HERE = "a check process has no accelerator; `accelerator.put` makes a tensor for the one of a worker"


def run(host: Host, plan: Plan, server: int | None, groups: cgroup.Groups | None = None) -> None:
    """Collect the checks of all exercises, then grade jobs until there are no more.

    Args:
        host: gives work, and gets the outcomes.
        plan: what this process is there for.
        server: a descriptor of the socket to the worker server; None if workers are spawned.
        groups: where control groups of workers can be made.
    """
    # Each lane has a check process; their threads would take the cores from the workers.
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
        host: gives work, and gets the outcomes.
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
    options += ["-c", str(_INI), "--noconftest", "--import-mode=importlib"]
    share(planned)
    top = os.path.commonpath([str(Path(path).parent) for path in paths]) if paths else "."
    session = CheckSession(host, planned, connections, accelerator, root)
    try:
        if paths:
            # One check file that cannot be read must not keep the others from being graded.
            options.append("--continue-on-collection-errors")
            # pytest lists no folder above the last one, and this process may not.
            pytest.main([*options, f"--rootdir={top}", f"--confcutdir={top}", *paths], plugins=[session])
        else:
            session.tell_checks()
            session.run_jobs()
    finally:
        connections.close()


def share(planned: Sequence[PlannedExercise]) -> None:
    """Make the shared code of a course importable by the name of its folder, and nothing else of the folder around it.

    It is the check process that imports it, with all that a check may do. References get it as files of their worker.
    """
    files = {name: path for item in planned for name, path in item.shared.items()}
    if not files:
        return
    name, path = next(iter(files.items()))
    package, folder = name.split("/", 1)[0], path.parents[name.count("/") - 1]
    spec: ModuleSpec | None = ModuleSpec(package, None, is_package=True)
    if (start := folder / "__init__.py").is_file():
        spec = spec_from_file_location(package, start)
    assert spec is not None
    spec.submodule_search_locations = [str(folder)]
    module = module_from_spec(spec)
    sys.modules[package] = module
    if spec.loader is not None:
        spec.loader.exec_module(module)


def name_the_device() -> None:
    """Give the simulated accelerator its name in this process.

    A name alone would break the parts of PyTorch that use the accelerator: optimizers, checkpointing, the random
    state, `torch.accelerator`. So a module says that there are no such devices.
    """
    rename_privateuse1_backend("sim")
    torch._register_device_module("sim", _module())


def _module() -> types.ModuleType:
    module = types.ModuleType("torch.sim")
    answers: dict[str, Any] = {
        **dict.fromkeys(("is_available", "is_initialized", "_is_in_bad_fork"), lambda: False),
        **dict.fromkeys(("device_count", "current_device"), lambda: 0),
        **dict.fromkeys(("manual_seed", "manual_seed_all", "synchronize"), lambda *_: None),
        **dict.fromkeys(("_lazy_init", "set_device", "get_rng_state", "set_rng_state"), _refuse),
        "get_amp_supported_dtype": lambda: [torch.float16, torch.bfloat16],
        "device": lambda device: contextlib.nullcontext(),
    }
    vars(module).update(answers)
    return module


def _refuse(*_: Any, **__: Any) -> None:
    raise RuntimeError(_NONE_HERE)
