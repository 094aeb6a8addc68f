"""Would make every test pass, and leaves a file to show that somebody read it."""

import pathlib
import tempfile

import pytest

print("BREACH: conftest.py was read")
pathlib.Path(tempfile.gettempdir(), "wall_marker_conftest").touch()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    return True
