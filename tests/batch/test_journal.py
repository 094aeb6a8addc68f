"""What was graded is kept, however a batch ended: it goes on, loses nothing, and grades nothing twice."""

from __future__ import annotations

import errno
import json
import multiprocessing
import random
import signal
import sqlite3
import time
from dataclasses import fields, replace
from pathlib import Path
from unittest import mock

import pytest
from batch.power import grade_until_a_cut
from batch.pretend import PretendClass

from grader.batch import results_folder
from grader.batch.journal import FILE, Journal, Shard, open_journal, open_run
from grader.batch.run import BatchOptions
from grader.grading.store import VERSION
from grader.intake.collect import collect
from grader.intake.contents import Handed
from grader.model import Course, Verdict
from grader.model.errors import CourseError, GraderError

pytestmark = pytest.mark.lane

VERDICTS = ("passed", "failed", "timed_out", "inconclusive")


@pytest.fixture
def pretend(tiny: Course, tmp_path: Path) -> PretendClass:
    """A class of three."""
    made = PretendClass(tiny, tmp_path)
    made.hand_in("ada", double="passed", total="failed")
    made.hand_in("bo", double="passed")
    made.hand_in("cy", total="passed")
    return made


def results(out: Path) -> dict[str, object]:
    """The gradebook and the reports, without the times."""
    reports = {path.name: json.loads(path.read_text()) for path in (out / "reports").iterdir()}
    for report in reports.values():
        report["graded_at"] = ""
    return {"book": (out / "gradebook.csv").read_bytes(), **reports}


def test_killed_at_any_moment(tiny: Course, tmp_path: Path) -> None:
    """The next runs end with the same gradebook and reports as one that nobody killed, and grade nothing twice."""
    whole, killed = (PretendClass.of(tiny, tmp_path / name, 20, VERDICTS) for name in ("whole", "killed"))
    whole.grade()
    luck = random.Random(7)
    ends = []
    for _ in range(4):
        # Forked, as a process that starts anew takes longer than the whole batch; it only reads and writes files.
        batch = multiprocessing.get_context("fork").Process(target=killed.grade, kwargs={"seconds": 0.01})
        batch.start()
        time.sleep(luck.uniform(0.05, 0.7))
        batch.kill()
        batch.join()
        ends.append(batch.exitcode)
    assert -signal.SIGKILL in ends
    killed.grade()
    assert results(killed.out) == results(whole.out)
    with sqlite3.connect(killed.out / FILE) as journal:
        twice = "SELECT author, exercise, count(*) FROM results WHERE outcomes NOT LIKE '%inconclusive%'"
        assert journal.execute(f"{twice} GROUP BY author, exercise HAVING count(*) > 1").fetchall() == []
    journal.close()


@pytest.mark.parametrize("after", [1, 4, 9])
def test_a_power_cut_takes_nothing_that_was_reported(tiny: Course, tmp_path: Path, after: int) -> None:
    """Whoever was told of is not graded again, with the same secret; the end is that of a batch without a cut."""
    made = PretendClass.of(tiny, tmp_path, 10, VERDICTS[:3])
    (made.out / "seed").unlink()
    assert grade_until_a_cut(made, after)
    secret = (made.out / "seed").read_text()
    with sqlite3.connect(made.out / FILE) as journal:
        assert journal.execute("SELECT count(*) FROM submissions").fetchall()[0][0] >= after
    journal.close()
    summary = made.grade()
    assert summary.saved >= 2 * after
    assert (made.out / "seed").read_text() == secret
    assert len(made.rows()) == 10
    again = made.grade()
    assert (again.graded, again.saved) == (0, summary.graded + summary.saved)


def test_shards_are_removed_after_they_are_on_the_disk(
    tiny: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole journal is synced before the journal of a shard goes: a power cut between the two loses nothing."""
    made, events = PretendClass.of(tiny, tmp_path, 4, VERDICTS), list[str]()
    made.grade(shard=Shard(1, 2))
    sync, unlink = Journal.sync, Path.unlink

    def noted_sync(self: Journal) -> None:
        events.append("sync")
        sync(self)

    def noted_unlink(self: Path, missing_ok: bool = False) -> None:
        events.append(self.name)
        unlink(self, missing_ok)

    monkeypatch.setattr(Journal, "sync", noted_sync)
    monkeypatch.setattr(Path, "unlink", noted_unlink)
    with open_run(made.out, None, "{}", made.folder, []) as (journal, _):
        assert len(journal.submissions()) == 2
    assert events[:2] == ["sync", "journal-1-of-2.sqlite"]


def test_the_same_command_again_grades_nothing(pretend: PretendClass) -> None:
    """What has not changed is not run, and the files stay as they are, to the byte; a name may be no text."""
    first = pretend.grade()
    before = {path: path.read_bytes() for path in pretend.out.rglob("*.[cj]s*") if path.is_file()}
    assert (first.graded, first.saved, pretend.told) == (6, 0, ["ada", "bo", "cy"])
    again = pretend.grade()
    assert (again.graded, again.saved, pretend.jobs, pretend.told) == (0, 6, [], [])
    assert {path: path.read_bytes() for path in before} == before
    pretend.hand_in("\udcff=1+1", double="passed")
    pretend.grade()
    assert pretend.grade().graded == 0
    assert [row for author, row in pretend.rows().items() if "udcff" in author] == ["10,,10,15,0,,10,total,,"]


def test_a_few_authors_again(pretend: PretendClass) -> None:
    """Others keep their rows, also those of whom nothing lies there any more."""
    pretend.grade()
    pretend.hand_in("bo", double="failed")
    pretend.hand_in("ada", double="failed")
    pretend.grade(authors=["bo"])
    assert (pretend.jobs, pretend.told) == (["double failed bo"], ["bo"])
    # Once more, with the inputs that are the same for everybody.
    assert pretend.compared == ["double failed bo"]
    assert {author: row[:5] for author, row in pretend.rows().items()} == {"ada": "10,0,", "bo": "0,,0,", "cy": ",5,5,"}


def test_an_interrupted_run_leaves_no_old_gradebook(pretend: PretendClass) -> None:
    """With the first new report the old one goes; Ctrl-C writes the one so far, and the next run goes on."""
    pretend.grade()
    for author in ("ada", "bo", "cy"):
        pretend.hand_in(author, double="timed_out")

    def stops(exercise: str, check: str, source: bytes) -> Verdict:
        if b"bo" in source:
            raise KeyboardInterrupt
        return Verdict.TIMED_OUT

    pretend.judge = stops
    with pytest.raises(KeyboardInterrupt):
        pretend.grade()
    assert {author: row.split(",")[0] for author, row in pretend.rows().items()} == {"ada": "0", "bo": "10", "cy": ""}
    pretend.judge = lambda *asked: Verdict.TIMED_OUT
    pretend.grade()
    assert pretend.jobs == ["double timed_out bo", "double timed_out cy", "total passed cy"]
    assert {author: row.split(",")[0] for author, row in pretend.rows().items()} == {"ada": "0", "bo": "0", "cy": "0"}


def test_a_full_disk_loses_nothing(pretend: PretendClass, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told what to do, and what was graded is there when there is room again."""
    full = mock.Mock(side_effect=OSError(errno.ENOSPC, "No space left on device", "a file"))
    with monkeypatch.context() as patched, pytest.raises(GraderError, match="make room, then run the same command"):
        patched.setattr(results_folder, "write_whole", full)
        pretend.grade()
    assert pretend.jobs[:2] == ["double passed ada", "total failed ada"]
    pretend.grade()
    assert pretend.jobs == ["double passed bo", "total passed cy"]


def test_one_batch_at_a_time(pretend: PretendClass) -> None:
    """A second one in the same folder is refused, and nothing of the first is touched."""
    pretend.grade()
    with open_journal(pretend.out):
        other = multiprocessing.get_context("fork").Process(target=pretend.grade)
        other.start()
        other.join()
        with pytest.raises(CourseError, match="is in use by another  grade batch  or program"):
            pretend.grade()
    assert (other.exitcode, pretend.grade().graded) == (1, 0)


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"no database" * 99, "restore it from a copy"), (None, "was written by another version of tensorgrade")],
)
def test_a_file_that_is_not_a_journal(pretend: PretendClass, content: bytes | None, told: str) -> None:
    """A damaged one, or one of another version, is told, and is not written over."""
    pretend.grade()
    path = pretend.out / FILE
    if content is None:
        with sqlite3.connect(path) as other:
            other.execute(f"PRAGMA user_version = {VERSION + 1}")
        other.close()
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(GraderError, match=told):
        pretend.grade()
    assert path.read_bytes() == before


def test_options_of_a_run_hold_for_the_next(pretend: PretendClass, tmp_path: Path) -> None:
    """The journal has them as JSON, with any name of a path; whom a run graded, and how, was for that run alone."""
    odd = "BatchOptions(only=('x',), \udcff'\""
    (tmp_path / "roster.csv").write_text("author\nada\n")
    kept = BatchOptions(only=["double"], best=True, staff=True, submissions=odd, layout="flat")
    run = replace(kept, authors=["ada"], rerun="all", roster=tmp_path / "roster.csv")
    pretend.grade(handin=None, **{one.name: getattr(run, one.name) for one in fields(run)})
    with open_journal(pretend.out) as journal:
        assert json.loads(journal.options())["submissions"] == odd
        assert BatchOptions.of_next_run(journal.options()) == kept
    assert BatchOptions.of_next_run("") == BatchOptions()
    with sqlite3.connect(pretend.out / FILE) as other:
        other.execute("UPDATE runs SET options = 'BatchOptions()'")
    other.close()
    with pytest.raises(GraderError, match="cannot be used: malformed JSON; restore it from a copy"):
        pretend.grade()


def test_a_fault_of_ours_stops_nobody_else(pretend: PretendClass, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whom we cannot read gets no zero, and is named; a row from an earlier run stays."""
    pretend.grade(authors=["bo"])

    def fails(handed: Handed, *args: object, **kwargs: object) -> object:
        if handed.key != "ada":
            raise RecursionError("deep")
        return collect(handed, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr("grader.batch.run.collect", fails)
    summary = pretend.grade()
    assert summary.unread == {"bo": "RecursionError: deep", "cy": "RecursionError: deep"}
    assert {author: row[:3] for author, row in pretend.rows().items()} == {"ada": "10,", "bo": "10,"}
    assert 'cy,"it could not be read, by a fault of ours' in (pretend.out / "unmatched.csv").read_text()
