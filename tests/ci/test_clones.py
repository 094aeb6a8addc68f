"""The repositories of a class: every way to write one, and each cloned as it was when the hand-in was due."""

from __future__ import annotations

import csv
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support import commit, git, run_grade

from grader.batch.lateness import lateness
from grader.ci.clones import Repository, parse_moment, read_class
from grader.course.load import load_course
from grader.intake.collect import open_intake
from grader.model.errors import CourseError

pytestmark = pytest.mark.lane

GITHUB = "https://github.com"


def test_every_way_to_write_a_repository(tmp_path: Path) -> None:
    """Windows' line ends, blanks, comments, addresses of a browser and of git; two owners are two students."""
    lines = ["\ufeff# the class", "", "  cs1/hw-ada  ", f"{GITHUB}/cs1/hw-bo", f"{GITHUB}/cs1/hw-cy.git"]
    lines += ["git@github.com:cs1/hw-di.git", "ssh://git@github.com/cs1/hw-ed/", "github.com/cs2/hw-ada", "CS1/HW-ADA"]
    lines += ["https://gitlab.example.org/a/b/hw-fay"]
    (tmp_path / "class.txt").write_bytes("\r\n".join(lines).encode())
    assert read_class(tmp_path / "class.txt", GITHUB) == [
        *(Repository(GITHUB, f"cs1/hw-{name}") for name in ("ada", "bo", "cy", "di", "ed")),
        Repository(GITHUB, "cs2/hw-ada"),
        Repository("https://gitlab.example.org", "a/b/hw-fay"),
    ]
    assert Repository(GITHUB, "cs2/hw-ada").folder == "cs2--hw-ada"


def test_each_line_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """With its number; so is a list without any repository."""
    (tmp_path / "class.txt").write_text("cs1/hw-ada\nhw-bo\n../x/y\n-o/x\na b/c\nhttps://github.com/only\n")
    with pytest.raises(CourseError) as refused:
        read_class(tmp_path / "class.txt", GITHUB)
    assert [problem.split(":")[0].rpartition(" ")[2] for problem in refused.value.problems] == ["2", "3", "4", "5", "6"]
    for text in ("", "# nobody\n"):
        (tmp_path / "class.txt").write_text(text)
        with pytest.raises(CourseError, match="has no repository"):
            read_class(tmp_path / "class.txt", GITHUB)


def test_a_time() -> None:
    """A date means its end; a time may have its zone."""
    assert parse_moment("2026-11-27T18:00+01:00") == datetime(2026, 11, 27, 17, tzinfo=UTC)
    assert parse_moment("2026-11-27") - parse_moment("2026-11-27 00:00") > timedelta(hours=23, minutes=59)
    with pytest.raises(CourseError, match="'Friday' is not a time"):
        parse_moment("Friday")


def test_a_class_is_cloned_as_it_was(tmp_path: Path) -> None:
    """At a time, without its history; a repository that is missing is named and fails, and the others are there."""
    for name in ("cs1/ada", "cs2/ada", "cs1/late", "cs1/empty"):
        home = tmp_path / "server" / f"{name}.git"
        home.mkdir(parents=True)
        git(home, "init", "-q")
        if name == "cs1/empty":
            continue
        if name != "cs1/late":
            commit(home, {"double.py": "early"})
        commit(home, {"double.py": "late"}, at="2026-11-30T12:00:00+00:00")
    (tmp_path / "class.txt").write_text("cs1/ada\ncs2/ada\ncs1/late\ncs1/empty\ncs1/gone\n")
    env = {**os.environ, "GITHUB_SERVER_URL": f"file://{tmp_path / 'server'}", "CLASS_TOKEN": "hush"}
    words = ("clone", "class.txt", "submissions", "--until", "2026-11-27")
    ran = run_grade(*words, cwd=tmp_path, env=env)
    assert ran.returncode == 2, ran.stdout
    assert "cs1/gone is missing, it cannot be cloned: " in ran.stderr
    assert "hush" not in ran.stdout + ran.stderr
    folders = sorted(path.name for path in (tmp_path / "submissions").iterdir())
    assert folders == ["cs1--ada", "cs1--empty", "cs1--late", "cs2--ada"]
    files = {path.parent.name: path.read_text() for path in (tmp_path / "submissions").rglob("*.*")}
    assert files == {"cs1--ada": "early", "cs2--ada": "early"}
    with (tmp_path / "submissions.csv").open() as file:
        heads, *rows = csv.reader(file)
    assert heads[:2] == ["folder", "repository"]
    assert [row[1] for row in rows] == ["cs1/ada", "cs2/ada", "cs1/late", "cs1/empty"]
    assert [row[0] for row in rows] == [row[1].replace("/", "--") for row in rows]
    assert [row[3][:10] for row in rows] == ["2026-11-20", "2026-11-20", "", ""]
    assert "is not empty; name a new folder" in run_grade(*words, cwd=tmp_path, env=env).stderr
    run_grade("clone", "class.txt", "latest", cwd=tmp_path, env=env)
    assert (tmp_path / "latest" / "cs1--late" / "double.py").read_text() == "late"


def test_a_repository_of_any_depth_costs_its_own_row(tmp_path: Path) -> None:
    """What git cannot check out as a whole is removed again, and the others are cloned."""
    for name, path in (("cs1/deep", "a/" * 2_500), ("cs1/bo", "")):
        home = tmp_path / "server" / f"{name}.git"
        home.mkdir(parents=True)
        git(home, "init", "-q")
        words = f"commit HEAD\ncommitter a <a@b.c> 1700000000 +0000\ndata 0\nM 100644 inline {path}f.py\ndata 1\nx\n"
        subprocess.run(["git", "fast-import", "--quiet"], cwd=home, input=words.encode(), check=True)
    (tmp_path / "class.txt").write_text("cs1/deep\ncs1/bo\n")
    env = {**os.environ, "GITHUB_SERVER_URL": f"file://{tmp_path / 'server'}"}
    ran = run_grade("clone", "class.txt", "submissions", cwd=tmp_path, env=env)
    assert (ran.returncode, "Traceback" in ran.stderr) == (2, False), ran.stderr
    assert "cs1/deep is missing, it cannot be cloned: " in ran.stderr
    assert len(ran.stderr) < 1_000
    assert [path.name for path in (tmp_path / "submissions").iterdir()] == ["cs1--bo"]


def test_days_late_of_clones(home: Path, tmp_path: Path) -> None:
    """The commit when it was due for its author counts, slack included; with --until a later one, which costs days."""
    course = home / "course.yaml"
    due = "    due: 2026-11-27 18:00\n    extensions: {CS1--bo: 2026-11-28 18:00}\n"
    text = course.read_text().replace("limits:", f"{due}limits:")
    course.write_text(f"{text}timezone: UTC\npolicy: {{percent_a_day: 10, slack_minutes: 10}}\n")
    for name in ("ada", "bo"):
        there = tmp_path / "server" / "cs1" / f"{name}.git"
        there.mkdir(parents=True)
        git(there, "init", "-q")
        for at in ("2026-11-27T18:09:00+00:00", "2026-11-28T19:05:00+01:00", "2026-11-29T12:00:00+00:00"):
            commit(there, {"double.py": at}, at)
    (tmp_path / "class.txt").write_text("cs1/ada\ncs1/bo\n")
    env = {**os.environ, "GITHUB_SERVER_URL": f"file://{tmp_path / 'server'}"}

    def late(folder: str, *words: str) -> dict[str, int | None]:
        typed = ("clone", "class.txt", folder, "--course", str(home), "--handin", "week1", *words)
        run_grade(*typed, cwd=tmp_path, env=env)
        read = load_course(home)
        with open_intake(tmp_path / folder, read.exercises, "plain") as intake:
            return {
                one.key: lateness({one.key.lower()}, one.at, read, read.handins[0], is_late=False)[0]
                for one in intake.handed
            }

    assert late("due") == {"cs1--ada": 0, "cs1--bo": 0}
    assert (tmp_path / "due" / "cs1--ada" / "double.py").read_text() == "2026-11-27T18:09:00+00:00"
    assert (tmp_path / "due" / "cs1--bo" / "double.py").read_text() == "2026-11-28T19:05:00+01:00"
    assert late("later", "--until", "2026-11-30") == {"cs1--ada": 2, "cs1--bo": 1}


def test_commits_that_do_not_count(home: Path, tmp_path: Path) -> None:
    """Neither what changed no file of the hand-in, nor bots and staff make work late, or change what is graded."""
    late = "2026-11-29T12:00:00+00:00"
    course = home / "course.yaml"
    course.write_text(f"{course.read_text()}timezone: UTC\n")
    servers = {name: tmp_path / "server" / "cs1" / f"{name}.git" for name in ("flat", "helper", "folder", "notes")}
    for name, there in servers.items():
        there.mkdir(parents=True)
        git(there, "init", "-q")
        place = {"flat": "", "notes": ""}.get(name, "week [1]*/double/")
        commit(there, {f"{place}double.py": "early", f"{place}helper.py": "early", "total.py": "early"})
        commit(there, {"total.py": "late", "notes.txt": "late", "week [1]*/README.md": "late"}, late)
    commit(servers["helper"], {"week [1]*/double/helper.py": "late"}, late)
    for who in ("bot <1+tool[bot]@users.noreply.github.com>", "bo <project_7_bot_ab12@noreply.gitlab.x>", "Jo <jo@x>"):
        for name in ("flat", "folder"):
            (file,) = servers[name].rglob("double.py")
            file.write_text(f"by {who}")
            git(servers[name], "add", ".")
            git(servers[name], "commit", "-q", "-m", "x", f"--author={who}", at=late)
    (tmp_path / "class.txt").write_text("".join(f"cs1/{name}\n" for name in servers))
    env = {**os.environ, "GITHUB_SERVER_URL": f"file://{tmp_path / 'server'}"}
    words = ("--course", str(home), "--handin", "week1", "--until", "2026-11-30", "--not-by", "JO@x")
    ran = run_grade("clone", "class.txt", "in", *words, cwd=tmp_path, env=env)
    assert ran.returncode == 0, ran.stderr
    with (tmp_path / "in.csv").open() as table:
        times = {row[0]: row[3][:10] for row in list(csv.reader(table))[1:]}
    early = "2026-11-20"
    assert times == {"cs1--flat": early, "cs1--helper": late[:10], "cs1--folder": early, "cs1--notes": early}
    assert [path.read_text() for path in (tmp_path / "in").rglob("double.py")] == ["early"] * 4
    assert "cs1/notes: " in ran.stdout
    assert "; 1 later commit changed no file of the hand-in" in " ".join(ran.stdout.split())
