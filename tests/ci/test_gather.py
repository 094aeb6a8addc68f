"""Reports of many jobs as one gradebook."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from support import make_deep, written

from grader.cli import main
from grader.sandbox.process import remove_folder


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
        ["ada", "9.5", "10", "", "19.5", "20", "0", "", "19.5", "", "", ""],
        ["cy", "", "0", "4", "4", "20", "0", "", "", "", "", ""],
        ["di", "", "0", "4", "4", "20", "0", "", "", "", "", ""],
    ]
    assert ran.output.startswith(f"{out} has 4 authors\nnot counted, as a later report has the same author: ")
    assert f"run1/report.json; {tmp_path}/in/run2/report.json counts\n" in ran.output
    assert "torch is not the same in all reports: 2.12.0, 2.13.0\n" in ran.output
    assert (ran.output.count("is not the same in all"), ran.output.count("not read: ")) == (1, 2)


def test_what_cannot_be_gathered_is_refused(tmp_path: Path) -> None:
    """No reports, and reports of two courses, also where one author is in both."""
    ran = CliRunner().invoke(main, ["gather", str(tmp_path)])
    assert (ran.exit_code, "has no report" in ran.output) == (2, True)
    written(tmp_path, {"a.json": report("ada", {"a": 1}), "b.json": report("ada", {"a": 2}, course="d")})
    ran = CliRunner().invoke(main, ["gather", str(tmp_path)])
    assert (ran.exit_code, "has reports of several courses (c, d)" in ran.output) == (2, True)


def test_a_forged_or_huge_report_costs_only_its_own_row(tmp_path: Path) -> None:
    """The others keep their rows and columns, whatever a job of a student's wrote; each such file is named."""
    forged: dict[str, str | bytes] = {
        "huge.json": b" " * 50_000_001,
        "deep.json": b"[" * 200_000,
        "digits.json": report("eve", {"a": 1}).replace('"version": 1', f'"version": {"9" * 6000}'),
        "signs.json": report("\ud800", {"a": 1}),
        "bytes.json": b"\xff\xfe{}",
        "long.json": report("e" * 200_000, {"a": 1}),
        "wide.json": report("eve", {f"x{number}": 0 for number in range(2_000)}),
        "course.json": report("eve", {"a": 1}, course="another \x1b[31mcourse"),
        "points.json": report("eve", {"a": 1000}),
        "all.json": report("eve", {"a": 1}, authors=["eve", "bo"]),
        "more.json": report("gus", {"a": 1, "forged": 0}),
        "where.json": report("fay", {"a": 1}, environment={"torch": "\x1b[31m" + "t" * 5_000}),
    }
    honest = {f"{name}.json": report(name, {"a": 3}) for name in ("ada", "bo", "cy")}
    written(tmp_path / "in", {**forged, **honest})
    make_deep(tmp_path / "in", 1_500)
    out = tmp_path / "gradebook.csv"
    ran = CliRunner().invoke(main, ["gather", str(tmp_path / "in"), "--out", str(out)])
    assert ran.exit_code == 0, ran.output
    assert [line for line in ran.output.splitlines() if line.startswith("not read: the folder")] == [
        f"not read: the folder {tmp_path}/in/{'a/' * 20}a lies deeper than 20 others; reports in it are not looked for"
    ]
    columns, *rows = csv.reader(out.read_text("utf-8").splitlines())
    assert columns[:4] == ["author", "a", "forged", "earned"]
    assert [(*row[:2], row[7]) for row in rows if row[0] in ("ada", "cy")] == [("ada", "3", "3"), ("cy", "3", "3")]
    # One name is written so that UTF-8 has it.
    assert {row[0] for row in rows} == {"ada", "bo", "cy", "eve", "fay", "gus", "\\ud800"}
    unread = [line for line in ran.output.splitlines() if line.startswith("not read: ")]
    for name in ("huge", "deep", "digits", "bytes", "long", "wide", "course", "points"):
        assert len([line for line in unread if f"{name}.json" in line]) == 1, ran.output
    assert "bo has several rows, of several reports; one may count: " in ran.output
    assert "\x1b" not in ran.output
    assert max(map(len, ran.output.splitlines())) < 1_000
    remove_folder(str(tmp_path / "in"))
