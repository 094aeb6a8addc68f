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
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.backend_registration import rename_privateuse1_backend

from grader.check.declare import Accelerator
from grader.check_process.connections import Connections
from grader.check_process.host import Host
from grader.check_process.own_time import OwnTime
from grader.check_process.plugin import CheckSession
from grader.model import DeviceKind
from grader.model.messages import PENDING, Message, Plan, PlannedExercise, Spawned
from grader.sandbox import cgroup
from grader.sandbox.process import remove_folder
from grader.sandbox.slow_imports import skip_slow_imports
from grader.worker_process.fork import ForkStarter
from grader.worker_process.spawn import SpawnStarter
from grader.worker_process.starter import Starter

_INI = Path(__file__).with_name("pytest.ini")
# Each of these would do something of its own between checks: capture output, write files, install handlers or hooks,
# print. `Host` sends the outcomes, and the streams are the channel's.
_PLUGINS_OFF = (
    *("cacheprovider", "capture", "doctest", "faulthandler", "junitxml", "logging", "pastebin", "setuponly"),
    *("setupplan", "stepwise", "subtests", "terminal", "threadexception", "unraisableexception"),
)


def run(host: Host, plan: Plan, servers: Sequence[int], groups: cgroup.ControlGroup | None = None) -> None:
    """Prepare this process, collect the checks of a plan, and grade jobs until there are no more.

    Args:
        host: the host, which sends jobs and gets the outcomes.
        plan: the plan, with the exercises of this process.
        servers: descriptors of the sockets to the worker server, and to that of plain workers if there is one; empty if
            workers are spawned.
        groups: the control group in which each worker gets one of its own; None if workers get none.
    """
    # Each lane has a check process; their threads would take the cores from the workers.
    torch.set_num_threads(1)
    skip_slow_imports()
    register_device_name()
    # Nothing that happens to be installed or set on this machine may change a verdict.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in ("PYTEST_ADDOPTS", "PYTEST_TIMEOUT"):
        os.environ.pop(name, None)
    on_cuda = plan.accelerator is DeviceKind.CUDA
    accelerator = Accelerator(DeviceKind.CUDA, torch.cuda.device_count()) if on_cuda else Accelerator()
    starter: Starter
    if servers:
        if groups is not None:
            # A grader that was killed could not remove its groups. Nobody else knows their names.
            groups.remove_orphaned_groups()
        first, *others = (socket.socket(fileno=server) for server in servers)
        starter = ForkStarter(first, plan.root, groups, plain=others[0] if others else None)
    else:
        starter = SpawnStarter(
            plan.root,
            plan.spawn,
            lambda pid: host.send(Spawned(pid)),
            roomy=on_cuda,
            plain=plan.spawn_plain,
            spares={bool(exercise.without) for exercise in plan.exercises},
        )
    with open(plan.root / PENDING, "r+b") as file:
        starter.waiting.mark = mmap.mmap(file.fileno(), 1)
    try:
        message: Message | None = plan
        while isinstance(message, Plan):
            with _remove_course_modules_after(message), contextlib.closing(Connections(starter)) as connections:
                session = CheckSession(host, message, connections, accelerator)
                _run_pytest(session, message.exercises)
                message = session.ended_by
    finally:
        starter.close()
        remove_folder(str(plan.root))  # the host does it too, unless it was killed


@contextmanager
def _remove_course_modules_after(plan: Plan) -> Iterator[None]:
    """Remove the course's modules from `sys.modules` after the `with` block.

    A new plan may have changed the files of these modules.
    """
    before = set(sys.modules)
    folders = {path.parent for item in plan.exercises for path in item.files if path is not None}
    yield
    linecache.checkcache()
    for name in set(sys.modules) - before:
        place = getattr(sys.modules[name], "__file__", None)
        if place and folders & set(Path(place).parents):
            del sys.modules[name]


def _run_pytest(session: CheckSession, planned: Sequence[PlannedExercise]) -> None:
    """Run the pytest session that collects the checks of all exercises and runs jobs.

    It ends when there are no more jobs.
    """
    import_shared_code(planned)
    paths = [str(path) for item in planned for path in (item.shown_checks, item.hidden_checks) if path is not None]
    if not paths:
        session.send_checks()
        session.run_jobs()
        return
    top = os.path.commonpath([os.path.dirname(path) for path in paths])
    options = [option for name in _PLUGINS_OFF for option in ("-p", f"no:{name}")]
    options += ["-c", str(_INI), "--noconftest", "--import-mode=importlib"]
    # One check file that cannot be read must not keep the others from being graded. pytest lists no folder above the
    # last one, and this process may not.
    options += ["--continue-on-collection-errors", f"--rootdir={top}", f"--confcutdir={top}"]
    pytest.main(
        [*options, "-p", "pytest_timeout", *paths], plugins=[session, session.fixtures, OwnTime(session.waiting)]
    )


def import_shared_code(planned: Sequence[PlannedExercise]) -> None:
    """Import the course's package of shared code into this process.

    Its parent folder is not added to `sys.path`. References get the package as files of their worker.
    """
    files = {name: path for item in planned for name, path in item.shared.items()}
    if not files:
        return
    name, path = files.popitem()
    package, folder = name.split("/")[0], path.parents[name.count("/") - 1]
    start = folder / "__init__.py"
    spec = spec_from_file_location(package, start, submodule_search_locations=[str(folder)])
    assert spec is not None
    module = sys.modules[package] = module_from_spec(spec)
    if start.is_file() and spec.loader is not None:
        spec.loader.exec_module(module)


def register_device_name() -> None:
    """Register the device name "sim" with PyTorch in this process.

    This process has no such devices. A name alone would break the parts of PyTorch that use the accelerator:
    optimizers, checkpointing, the random state, `torch.accelerator`. So a module says that there are no such devices.
    """
    module = types.ModuleType("torch.sim")
    vars(module).update(
        {
            **dict.fromkeys(("is_available", "is_initialized", "_is_in_bad_fork"), lambda: False),
            **dict.fromkeys(("device_count", "current_device"), lambda: 0),
            **dict.fromkeys(("manual_seed", "manual_seed_all", "synchronize"), lambda *_: None),
            **dict.fromkeys(("_lazy_init", "set_device", "get_rng_state", "set_rng_state"), _raise_no_accelerator),
            "get_amp_supported_dtype": lambda: [torch.float16, torch.bfloat16],
            "device": contextlib.nullcontext,
        }
    )
    rename_privateuse1_backend("sim")
    torch._register_device_module("sim", module)


def _raise_no_accelerator(*_: Any, **__: Any) -> None:
    raise RuntimeError("a check process has no accelerator; `accelerator.put` makes a tensor for the one of a worker")
