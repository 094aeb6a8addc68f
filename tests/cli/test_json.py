"""What commands print for other programs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from support import COURSES, ROOT

from grader.author.judge import Proof
from grader.author.verify import proof_data
from grader.cli import main
from grader.cli.doctor import TESTED, _doctor_lines, doctor_data
from grader.model import Course
from grader.model.messages import Level
from grader.runner.promises import PROMISES, ReachedLevel


def test_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exercise that comes next, as in the list; of the rest nothing is printed."""
    monkeypatch.chdir(COURSES / "tiny")
    told = json.loads(CliRunner().invoke(main, ["next", "--json"]).stdout)
    rows = json.loads(CliRunner().invoke(main, ["list", "--json"]).stdout)["exercises"]
    assert told == {"course": "A tiny course", "exercises": rows[:1]}
    assert rows[0]["path"] == Path("exercises/01_basics/double/double.py").as_posix()


def test_doctor() -> None:
    """Facts, the level, what holds and what does not, and what would raise the level, and of check processes."""
    holds, fails = PROMISES[0], replace(PROMISES[-1], why_not="it could")
    reached = ReachedLevel(Level.REDUCED, [holds, fails], "")
    data = doctor_data({"processors": 2}, reached, {"network": "nothing"})
    assert json.loads(json.dumps(data)) == {
        "facts": {"processors": 2},
        "confinement": "reduced",
        "tried": [
            {"name": row.name, "level": row.level.word, "holds": not row.why_not, "found": row.why_not}
            for row in (holds, fails)
        ],
        "missing": reached.missing(Level.FULL),
        "check_processes": {"network": "nothing"},
    }
    assert "it could" in data["missing"][0]


def test_doctor_names_versions_newer_than_tested() -> None:
    """A library that is newer than the one of constraints.txt is named; an older one, or a patch of it, is not."""
    pins = dict(
        line.split("==") for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if "==" in line
    )
    assert {name: ".".join(pins[name].split(".")[:2]) for name in TESTED} == TESTED

    def said(**facts: object) -> str:
        return " ".join(" ".join(_doctor_lines(facts, ReachedLevel(Level.FULL, [], ""), {})).split())

    newer = "newer than 2.13, with which tensorgrade was tested"
    assert f"torch 2.14.1+cu130: it works; {newer}" in said(torch="2.14.1+cu130", numpy="2.5.5")
    assert "numpy 2.5.5: newer than 2.4, with which" in said(torch="2.13.1", numpy="2.5.5")
    assert "newer" not in said(torch="2.13.9+cpu", numpy="1.26.4")


def test_verify(tiny: Course) -> None:
    """Of each exercise how its runs went, and every problem; whether all of it holds is said once."""
    good, bad = (Proof(exercise, counts={"right": (2, 2)}) for exercise in tiny.exercises)
    bad.problems.append("total: mend it")
    told = proof_data([good, bad])
    assert told["holds"] is False
    assert proof_data([good])["holds"] is True
    assert [proof_data([good], (), only)["only"] for only in ((), ("triples",))] == [[], ["triples"]]
    assert told["exercises"][1] == {
        "id": "total",
        "number": "01-2",
        "runs": {"right": {"good": 2, "all": 2}},
        "seconds": 0.0,
        "problems": ["total: mend it"],
        "notes": [],
        "unproved": [],
    }
