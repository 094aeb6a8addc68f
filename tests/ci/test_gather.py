"""Reports of many jobs as one gradebook."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from support import written

from grader.cli import main


def report(author: str, earned: dict[str, float], undecided: float = 0, **more: Any) -> str:
    """A report of exercises of 10 points, of which no check is told."""
    exercises = [
        {"id": id, "title": id, "module": "m", "state": "started", "checks": []}
        | {"score": {"earned": points, "possible": 10, "undecided": undecided}}
        | {"withheld": {"checks": 0, "points": 0}}
        for id, points in earned.items()
    ]
    total = {"earned": sum(earned.values()), "possible": 10 * len(earned), "undecided": undecided * len(earned)}
    known = {"version": 1, "course": "c", "author": author, "digest": "", "graded_at": "2026-01-01T00:00:00+00:00"}
    return json.dumps(known | {"score": total, "exercises": exercises, "environment": {"torch": "2.13.0"}} | more)


def test_a_gradebook_of_reports(tmp_path: Path) -> None:
    """The latest of each author counts, what is no report is told, and what differs from job to job, too."""
    made = {
        "run1/report.json": report("ada", {"a": 1, "b": 2}),
        "run2/report.json": report("ada", {"a": 9.5, "b": 10}, graded_at="2026-01-02T00:00:00+00:00"),
        "bo.json": report("=bo", {"a": 3}, 1, environment={"torch": "2.13.0", "confinement": None}),  # no code was run
        "cy.json": report(
            "cy", {"b": 0, "c": 4}, environment={"torch": "2.12.0", "confinement": "full"}, authors=["cy", "di"]
        ),
        "package.json": "{}",
        "bad.json": "{",
    }
    written(tmp_path / "in", made)
    out = tmp_path / "gradebook.csv"
    ran = CliRunner().invoke(main, ["gather", str(tmp_path / "in"), "--out", str(out)])
    assert ran.exit_code == 0, ran.output
    rows = list(csv.reader(out.read_text("utf-8").splitlines()))
    columns = "author,a,b,c,earned,possible,undecided,late_days,final,not_handed_in,not_started,explained"
    assert ",".join(rows[0]) == columns
    assert rows[1:] == [
        ["'=bo", "3", "", "", "3", "10", "1", "", "", "", "", ""],
        ["ada", "9.5", "10", "", "19.5", "20", "0", "", "", "", "", ""],
        ["cy", "", "0", "4", "4", "20", "0", "", "", "", "", ""],
        ["di", "", "0", "4", "4", "20", "0", "", "", "", "", ""],
    ]
    assert ran.output.startswith(f"{out} has 4 authors\nnot counted, as a later report has the same author: ")
    assert "run1/report.json\n" in ran.output
    assert "torch is not the same in all reports: 2.12.0, 2.13.0\n" in ran.output
    assert (ran.output.count("is not the same in all"), ran.output.count("not read: ")) == (1, 2)


def test_what_cannot_be_gathered_is_refused(tmp_path: Path) -> None:
    """No reports, and reports of two courses, also where one author is in both."""
    ran = CliRunner().invoke(main, ["gather", str(tmp_path)])
    assert (ran.exit_code, "has no report" in ran.output) == (2, True)
    written(tmp_path, {"a.json": report("ada", {"a": 1}), "b.json": report("ada", {"a": 2}, course="d")})
    ran = CliRunner().invoke(main, ["gather", str(tmp_path)])
    assert (ran.exit_code, "has reports of several courses (c, d)" in ran.output) == (2, True)
