"""`tools/draw.py`: functions that are drawn at random, to be read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.lane

DRAW = Path(__file__).resolve().parents[1] / "tools" / "draw.py"


def test_a_seed_draws_the_same_functions_with_their_docstrings() -> None:
    """Thirty functions come with place, signature and docstring; another seed draws others."""

    def drawn(seed: str) -> str:
        ran = subprocess.run([sys.executable, str(DRAW), seed], capture_output=True, text=True, check=True)
        return ran.stdout

    first = drawn("1")
    assert first == drawn("1") != drawn("2")
    heads = [line for line in first.splitlines() if line.split(". grader/")[0].isdecimal()]
    assert len(heads) == 30
    assert all(" .py:" not in head and ".py:" in head for head in heads)
