"""Runs tests that are marked with `in_mode` in processes of their own: what is simulated is so for a whole process."""

from __future__ import annotations

from pathlib import Path

import pytest
from accelerator.modes import run_in_child


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a marked test in a child."""
    mode = getattr(pyfuncitem.obj, "accelerator_mode", None)
    if mode is None or Path(__file__).parent not in pyfuncitem.path.parents:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    if text := run_in_child(pyfuncitem.path.stem, pyfuncitem.originalname, mode, arguments):
        pytest.fail(text, pytrace=False)
    return True
