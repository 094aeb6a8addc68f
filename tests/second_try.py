"""Runs pytest; what failed runs once more, alone, and the last line counts and names those tests.

Hundreds of tests wait for processes: where a busy machine made one wait too long, it passes when it is run alone. A
test that needs that is not good yet. Words go to pytest:

    python tests/second_try.py -n auto tests/ci
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CACHE = Path(__file__).parents[1] / "out" / "pytest-cache" / "v" / "cache" / "lastfailed"


def run(words: list[str]) -> int:
    """Run pytest with these words, and what failed once more; give pytest's status."""
    command = [sys.executable, "-m", "pytest", *words]
    CACHE.unlink(missing_ok=True)  # what an earlier run left there is not of this one
    failed: list[str] = []
    status = subprocess.run(command, check=False).returncode
    if status == pytest.ExitCode.TESTS_FAILED:
        failed = sorted(json.loads(CACHE.read_text(encoding="utf-8")))
        status = subprocess.run([*command, "-n0", "--last-failed"], check=False).returncode
    print(f"tests that needed a second try: {len(failed)}", *failed, sep="\n  ", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
