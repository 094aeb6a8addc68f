"""What has not changed since an earlier `grade verify` is not run again; what has, is run."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import FORK, Noted, WarmGrade, run_grade

from grader.author import verify
from grader.author.judge import Proof
from grader.author.verify import Prover
from grader.course.layout import results_path
from grader.course.load import load_course
from grader.grading import store
from grader.grading.outcomes import Outcomes, WorkResult
from grader.grading.runtime import Runtime
from grader.grading.schedule import schedule
from grader.grading.store import open_store
from grader.model import Verdict

STAFF = "solutions/01_basics/double"
SHOWN = "exercises/01_basics/double"
FILES = 6
"""Runs with one seed: the starter, the reference, a right answer, two wrong ones, and one unusual answer."""


def proved(home: Path, lanes: Runtime, seeds: int = 1) -> tuple[Proof, int]:
    """What a command shows of the first exercise, and how many submissions it runs."""
    course, told = load_course(home), Noted()
    lanes.recollect(course.exercises[:1])
    with open_store(home / "results.sqlite") as store:
        prover = Prover(course, FORK, store, seeds, progress=told)
        (proof,) = prover.prove(lanes, course.exercises[:1])
    return proof, len(told.advances)


def test_nothing_runs_where_nothing_has_changed(lanes: Runtime, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lane is used, and the proof is the same; one seed more runs the four answers that are tried with each."""
    first, ran = proved(home, lanes)
    with monkeypatch.context() as patch:
        patch.setattr(lanes, "call_in_lane", None)
        again, none = proved(home, lanes)
    assert (ran, none, first.saved, again.saved) == (FILES, 0, 0, FILES)
    assert replace(again, exercise=first.exercise, saved=0) == first
    assert first.counts == {**dict.fromkeys(("starter", "reference", "right", "unusual"), (1, 1)), "wrong": (2, 2)}
    assert [proved(home, lanes, seeds)[1] for seeds in (2, 1, 2)] == [4, 0, 0]


def saved(path: str, text: str) -> Callable[[Path, pytest.MonkeyPatch], object]:
    """A line more in a file."""
    return lambda home, _: (home / path).write_text(f"{(home / path).read_text()}\n{text}\n")


CHANGES: list[tuple[Callable[[Path, pytest.MonkeyPatch], object], int]] = [
    (saved(f"{STAFF}/wrong/triples.py", "x = 1"), 1),
    (saved(f"{SHOWN}/double.py", "x = 1"), 1),
    (saved(f"{STAFF}/check_double.py", "x = 1"), FILES),
    (saved(f"{STAFF}/double.py", "x = 1"), FILES),
    (lambda home, patch: patch.setattr(store, "package_digest", lambda: "another grader"), FILES),
]


def test_what_a_run_depends_on(lanes: Runtime, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed answer is run alone; where something is changed that judges, or runs, all is run."""
    proved(home, lanes)
    for change, ran in CHANGES:
        change(home, monkeypatch)
        assert [proved(home, lanes)[1], proved(home, lanes)[1]] == [ran, 0], change


def test_the_command_says_what_was_not_run(type_grade: WarmGrade, few_unusual: None, home: Path) -> None:
    """It says how many results are of earlier commands; `--fresh` and `--json` run all; `-q` tells what is proved."""
    words = "have not changed since an earlier run"
    typed = ("verify", "double", "--seeds", "1")
    first, again, fresh = (type_grade(*typed, *more, cwd=home).stdout for more in ((), (), ("--fresh",)))
    assert (words in first, words in again, words in fresh) == (False, True, False)
    assert "running" not in again
    rest = [line for line in first.split("\n") if line not in again and " of 6" not in line]  # on a slow machine
    assert rest == [first.split("\n")[0]]
    quiet = type_grade(*typed, "--fresh", "-q", cwd=home).stdout.split("\n")
    assert not [line for line in quiet if line.startswith(("Verifying", "running"))]
    assert any("double" in line for line in quiet)
    assert ('"holds": true' in type_grade(*typed, "--json", cwd=home).stdout) is True


def ended(verdict: Verdict, after: int) -> Callable[..., Iterator[WorkResult]]:
    """A scheduler that is interrupted after so many results, of which the last has a check with this verdict."""

    def interrupted(*given: Any, **more: Any) -> Iterator[WorkResult]:
        for number, one in enumerate(schedule(*given, **more), 1):
            if number < after:
                yield one
                continue
            given[2].forget_results([one.id])  # as if it had come like this
            first, *others = one.graded.checks
            changed = replace(first, outcome=replace(first.outcome, verdict=verdict))
            graded = replace(one.graded, checks=(changed, *others))
            yield replace(one, graded=graded, id=None, final=verdict is not Verdict.INCONCLUSIVE)
            raise KeyboardInterrupt

    return interrupted


@pytest.mark.parametrize("verdict", [Verdict.INCONCLUSIVE, Verdict.TIMED_OUT])
def test_an_interrupted_run_goes_on(
    lanes: Runtime, home: Path, monkeypatch: pytest.MonkeyPatch, verdict: Verdict
) -> None:
    """What was inconclusive is repeated alone, a timeout counts until the end, and the next command tries it again."""
    whole, _ = proved(home, lanes)
    (home / "results.sqlite").unlink()
    works: list[Any] = []
    submit = lanes.submit
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(verify, "schedule", ended(verdict, 3))
        proved(home, lanes)

    def noted(work: Any) -> Any:
        works.append(work)
        return submit(work)

    monkeypatch.setattr(lanes, "submit", noted)
    again, _ = proved(home, lanes)
    repeated = [work for work in works if work.before is not None]
    assert (len(works) - len(repeated), len(repeated)) == (FILES - 3, int(verdict is Verdict.INCONCLUSIVE))
    works.clear()
    last, _ = proved(home, lanes)
    assert len(works) == (verdict is Verdict.TIMED_OUT)
    assert replace(last, exercise=whole.exercise, saved=0, seconds=0) == replace(whole, seconds=0)
    if verdict is Verdict.INCONCLUSIVE:
        assert replace(again, exercise=whole.exercise, saved=0, seconds=0) == replace(whole, seconds=0)


def test_a_command_that_is_killed_goes_on(home: Path) -> None:
    """What it had run is not run again, and the table is that of a command which nobody killed."""
    typed, saved = ("verify", "double", "--seeds", "2"), home / ".grade" / "results.sqlite"
    command = [sys.executable, "-m", "grader", *typed, "-j", "1"]
    with subprocess.Popen(
        command, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        while process.poll() is None and rows_of(saved) < 5:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
    kept = rows_of(saved)
    assert kept >= 5
    again, fresh = (run_grade(*typed, *more, cwd=home).stdout for more in ((), ("--fresh",)))
    assert f"{kept} submissions have not changed since an earlier run" in " ".join(again.split())
    tables = [re.sub(r"[\d.]+ s$", "", next(line for line in text.splitlines() if "01-1 double" in line))
              for text in (again, fresh)]  # fmt: skip
    assert tables[0] == tables[1]


UNSAVED = "Results cannot be saved ("


def test_results_that_cannot_be_saved_are_said(type_grade: WarmGrade, few_unusual: None, home: Path) -> None:
    """In one line, with the reason: at once where there can be no file."""
    shutil.rmtree(home / ".grade", ignore_errors=True)
    (home / ".grade").write_text("a file where the folder of results belongs")
    typed = ("verify", "double", "--seeds", "1")
    ran = type_grade(*typed, cwd=home)
    assert ran.stdout.count(UNSAVED) == 1 and ran.stdout.index(UNSAVED) < ran.stdout.index("01-1 double")
    (home / ".grade").unlink()
    assert UNSAVED not in type_grade(*typed, cwd=home).stdout


@pytest.mark.parametrize("option", ["--fresh", "--json"])
def test_results_that_cannot_be_removed_are_said(
    type_grade: WarmGrade, home: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    """While another program writes to the file, what needs new results says which file it is, and what to do."""
    monkeypatch.setattr(store, "_WAIT_S", 0.05)
    path = results_path(load_course(home))
    with open_store(path) as other:
        other._connection.execute("BEGIN IMMEDIATE")
        ran = type_grade("verify", "double", option, cwd=home)
        other._connection.rollback()
    said = " ".join(ran.stderr.split())
    assert ran.returncode == 2
    assert f"{path}: earlier results of double cannot be removed (database is locked); wait for what" in said


def test_a_disk_that_is_full_is_said(
    type_grade: WarmGrade, few_unusual: None, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found is proved all the same; the line stands behind the table, as it was noticed late."""

    def full(*given: Any) -> int:
        del given
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(store.Store, "insert", full)
    text = " ".join(type_grade("verify", "double", "--seeds", "1", cwd=home).stdout.split())
    assert text.index("01-1 double") < text.index(f"{UNSAVED}database or disk is full)")


def test_a_large_course_keeps_all_its_results(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a newer result replaces goes first, and numbers that are not used any more count for nothing."""
    monkeypatch.setattr(store, "_MANY_RESULTS", 4)
    monkeypatch.setattr(store, "_MOST_RESULTS", 8)
    key, path = store.ResultKey("", "judge", "seed", "machine", ""), home / "results.sqlite"

    def result(name: str) -> store.Saved:
        return store.Saved(0, "right", "double", replace(key, files=name), "now", None, Outcomes("done"))

    def kept_after(*names: str) -> str:
        with open_store(path) as opened:
            for name in names:
                opened.insert_saved(result(name))
        with open_store(path) as opened:
            return "".join(saved.key.files for saved in reversed(opened.saved_results_of("right")))

    assert kept_after("a", "b", "c", "a") == "abca"
    assert kept_after("d", "e") == "bcade"
    with open_store(path) as opened:  # as a check of speed, which each command tries again
        tried = [opened.insert_saved(result("speed")) for _ in range(9)]
        opened.insert_saved(result("f"))
        opened.forget_results(tried)
    assert kept_after("g", "h") == "bcadefgh"
    assert kept_after("i") == "cadefghi"


def rows_of(path: Path) -> int:
    """How many results a store has."""
    if not path.is_file():
        return 0
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
    except sqlite3.OperationalError:  # its tables are not there yet
        return 0
