"""Runs tests that are marked with `in_mode` in processes of their own: what is simulated is so for a whole process."""

from __future__ import annotations

import atexit
from pathlib import Path

import pytest
from accelerator.modes import Children

_CHILDREN = Children()
atexit.register(_CHILDREN.close)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a marked test in a child."""
    mode = getattr(pyfuncitem.obj, "accelerator_mode", None)
    if mode is None or Path(__file__).parent not in pyfuncitem.path.parents:
        return None
    wanted = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in wanted}
    text = _CHILDREN.run(pyfuncitem.path, pyfuncitem.originalname, mode, arguments)
    if text:
        pytest.fail(text, pytrace=False)
    return True
