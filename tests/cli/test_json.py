"""What commands print for other programs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from support import COURSES

from grader.author.judge import Proof
from grader.author.verify import proof_data
from grader.cli import main
from grader.cli.doctor import doctor_data
from grader.model import Course
from grader.model.messages import Level
from grader.runner.source import PROMISES, Reached


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
    reached = Reached(Level.REDUCED, [holds, fails], "")
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


def test_verify(tiny: Course) -> None:
    """Of each exercise how its runs went, and every problem; whether all of it holds is said once."""
    good, bad = (Proof(exercise, counts={"right": (2, 2)}) for exercise in tiny.exercises)
    bad.problems.append("total: mend it")
    told = proof_data([good, bad])
    assert told["holds"] is False
    assert proof_data([good])["holds"] is True
    assert told["exercises"][1] == {
        "id": "total",
        "number": "01-2",
        "runs": {"right": {"good": 2, "all": 2}},
        "seconds": 0.0,
        "problems": ["total: mend it"],
        "notes": [],
        "unproved": [],
    }
