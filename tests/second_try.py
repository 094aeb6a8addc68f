"""Run pytest; what failed runs once more, alone, to tell a test that is not steady from one that is wrong.

A test that passes only at its second try is a defect, which is printed. With `UNSTEADY_FAILS=1`, as in our workflows,
it fails this run, too, unless `UNSTEADY` names it with the number of the issue about it. Words go to pytest:

    python tests/second_try.py -n auto tests/ci
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CACHE = Path(__file__).parents[1] / "out" / "pytest-cache" / "v" / "cache" / "lastfailed"

UNSTEADY: dict[str, int] = {}
"""Tests that are known to need a second try, by their ids, with the number of an open issue."""


def run(words: list[str], unsteady: dict[str, int]) -> int:
    """Run pytest with these words, then what failed; return pytest's status, or that of failed tests.

    Args:
        words: of pytest's command.
        unsteady: the tests that may need a second try, with the numbers of their issues.
    """
    command = [sys.executable, "-m", "pytest", *words]
    CACHE.unlink(missing_ok=True)  # what an earlier run left there is not of this one
    failed: list[str] = []
    status = subprocess.run(command, check=False).returncode
    if status == pytest.ExitCode.TESTS_FAILED:
        failed = sorted(json.loads(CACHE.read_text(encoding="utf-8")))
        status = subprocess.run([*command, "-n0", "--last-failed"], check=False).returncode
    print(f"tests that needed a second try: {len(failed)}")
    for name in failed:
        print(f"  {name}  {f'issue {unsteady[name]}' if name in unsteady else 'a defect without an issue: file one'}")
    sys.stdout.flush()
    is_defect = bool(set(failed) - unsteady.keys()) and os.environ.get("UNSTEADY_FAILS") == "1"
    return status or (pytest.ExitCode.TESTS_FAILED if is_defect else status)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], UNSTEADY))
