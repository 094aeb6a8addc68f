"""Runs any project's tests of CUDA without a GPU: `pytest -p grader.accelerator.pytest_plugin --accelerator a100`.

In a project's `pyproject.toml`, under `[tool.pytest.ini_options]`, `accelerator = "a100"` stands for the option.
Without either nothing is imported and nothing changes.

The distribution simulated-cuda has a copy of this module. If pytest loads both, the first one adds the options and
simulates; the other one does nothing.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from grader.accelerator.refusals import REFUSED
from grader.accelerator.sim.gpus import NAMES
from grader.accelerator.tools.arguments import parse_count, parse_gib
from grader.accelerator.tools.missing_packages import note_missing

if "GRADER_ACCELERATOR" in os.environ:
    # The process gets the device of the one that started it, as xdist's do: this import makes it, of modules that must
    # not be half imported by then.
    importlib.import_module("torch")

SIMULATES_CUDA = True
"""What the copies of this module know each other by."""

_PACKAGE = __name__.rpartition(".")[0] + "."
_ANY = "cuda"
_OFF = "none"
_MARKER = "real_gpu: needs a real GPU, and is skipped where CUDA is simulated"
_COUNTS = pytest.StashKey[Counter[str]]()
_SENT = "simulated_cuda"
_REVIVED = "revived devices"
_SUMMARY = {
    "operations": "operation",
    "copies": "copy",
    "waits": "wait",
    "races": "race",
    "refusals": "refusal",
    _REVIVED: "revived device",
}
"""What the last line counts, and the word for one of it."""


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options `--accelerator...` to pytest, and keys of the ini file for them."""
    if not _is_first_copy(pluginmanager):
        return
    group = parser.getgroup("simulated CUDA")
    group.addoption(
        "--accelerator",
        metavar="GPU",
        help=f"simulate CUDA, so that tests that need a GPU run without one: {_ANY} for a device of no kind, or "
        f"{', '.join(NAMES)}; {_OFF} for none, also where the ini file names one",
    )
    group.addoption("--accelerator-devices", metavar="N", type=parse_count, help="how many devices there are; 1")
    group.addoption(
        "--accelerator-memory", metavar="GIB", type=parse_gib, help="how much memory each has; that of the GPU"
    )
    group.addoption(
        "--accelerator-revive",
        action="store_true",
        help="after a device-side assert, let the next test have a device that works; on CUDA none works any more",
    )
    parser.addini("accelerator", "the GPU that is simulated, as --accelerator says", default="")
    # In a TOML file, numbers are numbers; an older pytest knows strings only.
    number: Any = "int" if pytest.version_tuple >= (8, 4) else None
    parser.addini("accelerator_devices", "how many devices there are", type=number, default=None)
    parser.addini("accelerator_memory", "the GiB of memory of each", type=number, default=None)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Enable the simulated device before pytest imports a file of the project.

    Many files look for a GPU when they are imported.
    """
    gpu = _simulated_gpu(early_config)
    if not gpu:
        return
    from grader.accelerator.tools.child_processes import enable_for_all

    devices = _number_of_option(early_config, "accelerator_devices", parse_count) or 1
    gib = _number_of_option(early_config, "accelerator_memory", parse_gib)
    try:
        enable_for_all("" if gpu == _ANY else gpu, devices, gib)
    except (ValueError, RuntimeError) as error:
        raise pytest.UsageError(f"simulated CUDA: {error}") from None


def _number_of_option(config: pytest.Config, name: str, parse: Callable[[str], int]) -> int | None:
    """Return the number of an option, or of the key of the ini file with the same name; None if neither is set."""
    given = getattr(config.known_args_namespace, name)
    try:
        return given or (None if (found := config.getini(name)) is None else parse(str(found)))
    except (ValueError, TypeError, argparse.ArgumentTypeError) as error:
        raise pytest.UsageError(f"simulated CUDA: {name}: {error}") from None


def _is_first_copy(manager: pytest.PytestPluginManager) -> bool:
    """Return whether pytest loaded this module before any other copy of it."""
    copies = (plugin for _, plugin in manager.list_name_plugin() if getattr(plugin, "SIMULATES_CUDA", False))
    return next(copies, None) is sys.modules[__name__]


def _simulated_gpu(config: pytest.Config) -> str:
    """Return the name of the GPU that this module simulates, such as "a100".

    The option or the ini file says it. It is "cuda" for a device that imitates no GPU, and "" if this module simulates
    nothing.
    """
    if not _is_first_copy(config.pluginmanager):
        return ""
    given = config.known_args_namespace.accelerator
    chosen = str(config.getini("accelerator") if given is None else given)
    return "" if chosen == _OFF else chosen


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker `real_gpu`, and set the counts of this session to zero."""
    if _is_first_copy(config.pluginmanager):
        config.addinivalue_line("markers", _MARKER)
    config.stash[_COUNTS] = Counter()


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return the header line that names the simulated GPU and the number of devices.

    An example is "accelerator: NVIDIA A100-SXM4-40GB, simulated; 2 devices". If CUDA is not simulated, return None.
    """
    if not _simulated_gpu(config):
        return None
    machine = _machine()
    count = len(machine.devices)
    name = machine.spec.name
    kind = name if name.startswith("Simulated") else f"{name}, simulated"
    return f"accelerator: {kind}; {count} device{'s' if count > 1 else ''}"


def _machine() -> Any:
    from grader.accelerator.sim.machine import the_machine

    return the_machine()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the tests that are marked `real_gpu` while CUDA is simulated."""
    if _simulated_gpu(config):
        skip = pytest.mark.skip(reason="needs a real GPU, and CUDA is simulated")
        for item in items:
            if item.get_closest_marker("real_gpu") is not None:
                item.add_marker(skip)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[None]:
    """Prepare the error of a test for the report: with a note, and without the frames of this package.

    The note says what to use instead of a package for real GPUs that is missing. With `--full-trace`, all frames stay.
    """
    if call.excinfo is not None:
        note_missing(call.excinfo.value)
        _hide_own_frames()
    return (yield)


def _hide_own_frames() -> None:
    """Make pytest's tracebacks end in the line of the program: by the global that pytest documents for helpers."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_PACKAGE):
            vars(module)["__tracebackhide__"] = True


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Clear the device-side asserts of a test, if `--accelerator-revive` is set.

    The devices that the asserts stopped are usable again.
    """
    if _simulated_gpu(item.config) and item.config.getoption("accelerator_revive"):
        item.config.stash[_COUNTS][_REVIVED] += _machine().clear_device_asserts()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Add up what the device counted in this process, for the last line of the report.

    A worker of pytest-xdist sends the counts to the controller.
    """
    config = session.config
    if not _simulated_gpu(config):
        return
    machine, counts = _machine(), config.stash[_COUNTS]
    machine.races.warn_of_overwritten_copies(at_end=True)
    counts["operations"] += machine.tally.launches
    counts["copies"] += sum(machine.tally.transfers.values())
    counts["waits"] += sum(machine.tally.syncs.values())
    counts["races"] += machine.races.count
    counts["refusals"] += REFUSED.total()
    if hasattr(config, "workeroutput"):
        config.workeroutput[_SENT] = dict(counts)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add the counts that a worker of pytest-xdist sent to those of the controller."""
    node.config.stash[_COUNTS].update(getattr(node, "workeroutput", {}).get(_SENT, {}))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Write the line that counts the use of the simulated device.

    An example is "simulated CUDA: 1,024 operations, 1 copy, 2 waits, 0 races, 0 refusals".
    """
    if _simulated_gpu(config):
        counts = config.stash[_COUNTS]
        words = [_count_text(counts[name], name) for name in _SUMMARY if name != _REVIVED or counts[name]]
        terminalreporter.write_line(f"simulated CUDA: {', '.join(words)}")


def _count_text(count: int, name: str) -> str:
    return f"{count:,} {_SUMMARY[name] if count == 1 else name}"
