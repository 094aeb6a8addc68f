"""Benchmarks that hold two ways against each other still compare the same thing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.lane

ROOT = Path(__file__).resolve().parents[1]


def test_checks_pass_without_isolation_as_in_a_lane() -> None:
    """The session that we are compared with runs the same checks on the same submissions, and as many pass."""
    words = ("--rounds", "0", "--submissions", "2", "--lanes", "1")
    command = [sys.executable, str(ROOT / "benchmarks" / "against_pytest.py"), *words]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "round 0 (left out): pytest -q" in ran.stdout
