"""Probes: which file's functions run."""

from __future__ import annotations

from pathlib import Path

from support import Function

from grader.remote.handle import side_of
from grader.remote.probe import Probe


def test_two_probe_files_of_one_name(function: Function, tmp_path: Path) -> None:
    """The shown probe and the hidden one have the same name; each check gets the functions of its own."""
    side = side_of(function("def total(x): return x"))
    for folder in ("shown", "hidden", "shown"):
        path = tmp_path / folder / "probe_total.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"def whose():\n    return {folder!r}\n")
        assert Probe(side, path).whose() == folder
