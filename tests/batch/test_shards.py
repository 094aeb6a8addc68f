"""A class graded by several processes: killed or not, the outcome is that of one batch."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path
from unittest import mock

import pytest
from batch.pretend import PretendClass
from batch.test_journal import results
from click.testing import CliRunner

from grader.batch import run
from grader.batch.journal import FILE, Shard, open_journal
from grader.cli import main
from grader.model import Course, Verdict
from grader.model.errors import CourseError

pytestmark = pytest.mark.lane

VERDICTS = ("passed", "failed", "timed_out")
SHARDS = [Shard(number, 3) for number in (1, 2, 3)]


def left(out: Path) -> list[str]:
    """The journals of shards that no batch of the whole class has taken in yet."""
    return sorted(path.name for path in out.glob("journal-*.sqlite"))


@pytest.fixture
def classes(tiny: Course, tmp_path: Path) -> tuple[PretendClass, PretendClass]:
    """Two classes of eight that are alike."""
    return PretendClass.of(tiny, tmp_path / "whole", 8, VERDICTS), PretendClass.of(
        tiny, tmp_path / "parts", 8, VERDICTS
    )


def test_shards_are_one_batch(classes: tuple[PretendClass, PretendClass]) -> None:
    """The next run without --shard takes their outcomes in, grades nothing, and writes the gradebook."""
    whole, parts = classes
    whole.grade()
    jobs: list[str] = []
    for shard in SHARDS:
        parts.grade(shard=shard)
        jobs += parts.jobs
        assert not (parts.out / "gradebook.csv").exists()
    assert sorted(jobs) == sorted(whole.jobs)
    assert left(parts.out) == [f"journal-{shard}.sqlite" for shard in SHARDS]
    summary = parts.grade()
    assert (parts.jobs, summary.graded, summary.saved) == ([], 0, 16)
    assert results(parts.out) == results(whole.out)
    assert [path.name for path in parts.out.glob("journal*")] == [FILE]
    # Later ones know what the whole journal has: only what changed is graded, and the difference is reported.
    for author in ("author03", "author04"):
        parts.hand_in(author, double="failed", total="failed")
    parts.grade(shard=SHARDS[0])
    assert (parts.jobs, parts.told) == (["double failed author03", "total failed author03"], ["author03"])
    parts.grade()
    assert parts.jobs == ["double failed author04", "total failed author04"]
    assert [parts.rows()[f"author0{number}"].split(",")[0] for number in (3, 4)] == ["0", "0"]


def test_killed_shards(classes: tuple[PretendClass, PretendClass]) -> None:
    """Shards that were killed go on, or the next whole run does; nothing is graded twice that was written down."""
    whole, parts = classes
    whole.grade()
    running = [
        multiprocessing.get_context("fork").Process(target=parts.grade, kwargs={"seconds": 0.05, "shard": shard})
        for shard in SHARDS
    ]
    for process in running:
        process.start()
    time.sleep(0.3)
    for process in running[1:]:
        process.kill()
    for process in running:
        process.join()
    assert running[0].exitcode == 0
    parts.grade(shard=SHARDS[1])
    second = parts.jobs
    parts.grade()
    assert not {job for job in parts.jobs if job in second}
    assert results(parts.out) == results(whole.out)


def test_a_shard_is_graded_by_one_process(classes: tuple[PretendClass, PretendClass]) -> None:
    """The same one twice, one beside a batch of the whole class, and that beside one, are refused."""
    parts = classes[1]
    seen: list[str] = []

    def others(exercise: str, check: str, source: bytes) -> Verdict:
        for file in (FILE, "journal-1-of-3.sqlite"):
            try:
                with open_journal(parts.out, file=file, wait_s=0):
                    seen.append(f"{file} is free")
            except CourseError as error:
                assert "is in use by another" in str(error)
                seen.append(f"{file} is taken")
        return Verdict.PASSED

    parts.judge = others
    parts.grade(shard=SHARDS[0])
    assert set(seen) == {"journal.sqlite is free", "journal-1-of-3.sqlite is taken"}
    with (
        open_journal(parts.out, file="journal-1-of-3.sqlite"),
        pytest.raises(CourseError, match="is in use by another"),
    ):
        parts.grade()
    assert left(parts.out) == [f"journal-{SHARDS[0]}.sqlite"]


@pytest.fixture
def words(tiny: Course, tmp_path: Path) -> list[str]:
    """`grade batch` of a class of one."""
    (tmp_path / "in" / "ada").mkdir(parents=True)
    return ["batch", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--course", str(tiny.root)]


def test_a_file_that_is_not_a_shard(words: list[str]) -> None:
    """It is refused, with how to write it."""
    for text in ("0/3", "4/3", "2", "a/b", "1/0", "-1/3"):
        ran = CliRunner().invoke(main, [*words, "--shard", text])
        assert (ran.exit_code, "write 2/4 for the second of four" in ran.stderr) == (2, True)


def test_a_shard_that_is_interrupted(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It leaves no gradebook, and says who writes it; a whole batch leaves the one so far."""
    monkeypatch.setattr(run, "grade_batch", mock.Mock(side_effect=KeyboardInterrupt))
    for shard, told in (
        (["--shard", "1/2"], "a run without --shard writes the gradebook"),
        ([], "the gradebook so far is"),
    ):
        ran = CliRunner().invoke(main, [*words, *shard])
        assert (ran.exit_code, told in ran.stderr) == (130, True)
