"""Runs any project's tests of CUDA without a GPU: `pytest -p grader.accelerator.pytest_plugin --accelerator a100`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

# First: where the process gets the device of the one that started it, as xdist's do, this import makes it, of modules
# that must not be half imported by then.
import torch  # noqa: F401

from grader.accelerator.sim.gpus import NAMES
from grader.accelerator.tools.missing_packages import note_missing

_ANY = "cuda"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("simulated CUDA")
    group.addoption(
        "--accelerator",
        metavar="GPU",
        help=f"simulate CUDA, so that tests that need a GPU run without one: {_ANY} for a device of no kind, or "
        f"{', '.join(NAMES)}",
    )
    group.addoption("--accelerator-devices", metavar="N", type=int, default=1, help="how many devices there are; 1")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Make the device before any file of the project is imported: many ask for it then."""
    options = early_config.known_args_namespace
    if options.accelerator is None:
        return
    from grader.accelerator.tools.child_processes import enable_for_all

    try:
        enable_for_all("" if options.accelerator == _ANY else options.accelerator, options.accelerator_devices)
    except (ValueError, RuntimeError) as error:
        raise pytest.UsageError(f"simulated CUDA: {error}") from None


def pytest_report_header(config: pytest.Config) -> str | None:
    """Says on what the tests run."""
    if config.getoption("accelerator") is None:
        return None
    from grader.accelerator.sim.machine import the_machine

    machine = the_machine()
    count = len(machine.devices)
    name = machine.spec.name
    kind = name if name.startswith("Simulated") else f"{name}, simulated"
    return f"accelerator: {kind}; {count} device{'s' if count > 1 else ''}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[Any]) -> Iterator[None]:
    """Tell what to use in place of a package that needs a real GPU."""
    if call.excinfo is not None:
        note_missing(call.excinfo.value)
    return (yield)
