"""What has not changed since an earlier `grade verify` is told again with nothing run; what has, is run."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from grader.author.kept import Kept
from support import COURSES, FORK, run_grade

from grader.author import kept as keeping
from grader.author.odd import odd_cases
from grader.author.proof import Proof
from grader.author.run import prove
from grader.author.runs import Runs
from grader.course.load import load_course
from grader.model import Course
from grader.runner.lane import Lane
from grader.runner.pool import Pool

STAFF = "solutions/01_basics/double"
SHOWN = "exercises/01_basics/double"
FILES = 6
"""Runs with one seed: the starter, the reference, a right answer, two wrong ones, and the one odd answer of here."""


@pytest.fixture
def pool(tiny: Course, fork_lane: Lane, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    """A pool of the warm lane, which outlives it; one odd answer is enough."""
    monkeypatch.setattr("grader.author.run.odd_cases", lambda proof: [*odd_cases(proof)][:1])
    monkeypatch.setattr("grader.author.run.constant_cases", lambda exercise: [])
    monkeypatch.setattr(fork_lane, "watch", fork_lane.watch)
    with closing(Pool(lambda: fork_lane, 1)) as pool:
        yield pool
        monkeypatch.setattr(fork_lane, "close", lambda: None)
    fork_lane.collect_anew(tiny.exercises)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A copy of the pretend course."""
    return Path(shutil.copytree(COURSES / "tiny", tmp_path / "course", ignore=shutil.ignore_patterns(".grade")))


def proved(home: Path, pool: Pool, seeds: int = 1) -> tuple[Proof, int]:
    """What a command finds of the first exercise, and how many submissions it runs."""
    course, ran = load_course(home), list[int]()
    runs = Runs(course, FORK, ran=lambda count, of: ran.append(count), kept=Kept(course, FORK, seeds))
    runs.judged_by(course.exercises[:1])
    (proof,) = prove(pool, course.exercises[:1], runs, seeds, print)
    return proof, len(ran)


def test_nothing_runs_where_nothing_has_changed(pool: Pool, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lane is asked, and all that was found is found again."""
    first, ran = proved(home, pool)
    monkeypatch.setattr(pool, "submit", lambda job: pytest.fail("a lane was asked"))
    again, none = proved(home, pool)
    assert (ran, none) == (FILES, 0)
    assert replace(again, exercise=first.exercise) == first
    assert first.counts == {**dict.fromkeys(("starter", "reference", "right", "odd"), (1, 1)), "wrong": (2, 2)}


def saved(path: str, text: str) -> Callable[[Path, pytest.MonkeyPatch], None]:
    """A line more in a file."""

    def change(home: Path, _: pytest.MonkeyPatch) -> None:
        (home / path).write_text(f"{(home / path).read_text()}\n{text}\n")

    return change


def patched(name: str, value: object) -> Callable[[Path, pytest.MonkeyPatch], None]:
    """Something else in the place of what this machine is known by."""
    return lambda home, patch: patch.setattr(keeping, name, lambda *given: value)


def damaged(home: Path, _: pytest.MonkeyPatch) -> None:
    """The file of what is kept, cut off."""
    (path,) = (home / ".grade/verified").iterdir()
    path.write_text(path.read_text()[:100])


@pytest.mark.parametrize(
    ("change", "ran"),
    [
        (saved(f"{STAFF}/wrong/triples.py", "x = 1"), 1),
        (saved(f"{STAFF}/right/adds.py", "x = 1"), 1),
        (saved(f"{STAFF}/check_double.py", "x = 1"), FILES),
        (saved(f"{SHOWN}/check_double.py", "x = 1"), FILES),
        (saved(f"{STAFF}/double.py", "x = 1"), FILES),
        (saved(f"{SHOWN}/double.py", "x = 1"), 1),
        (saved(f"{SHOWN}/exercise.yaml", "limits: {call_s: 3}"), FILES),
        (patched("_own_files", b"another grader"), FILES),
        (patched("_installed", "another pytest"), FILES),
        (damaged, FILES),
    ],
)
def test_what_a_run_hangs_on(
    pool: Pool, home: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[..., None], ran: int
) -> None:
    """A changed answer is run alone; where something is changed that judges, or runs, all is run."""
    proved(home, pool)
    change(home, monkeypatch)
    assert [proved(home, pool)[1], proved(home, pool)[1]] == [ran, 0]


def test_another_number_of_seeds_runs_all(pool: Pool, home: Path) -> None:
    """The whole proof rests on no run of a quick one; both are kept."""
    # The starter and the odd answer run once.
    assert [proved(home, pool, seeds)[1] for seeds in (1, 2, 1, 2)] == [FILES, 2 * FILES - 2, 0, 0]


def test_what_may_be_otherwise_is_run_again(pool: Pool, home: Path) -> None:
    """A right answer that does not pass may pass the next time; a wrong one without an end is asked again."""
    (home / STAFF / "right/adds.py").write_text('"""Wrong."""\n\n\ndef double(x):\n    return x\n')
    slow = home / STAFF / "wrong/triples.py"
    slow.write_text(slow.read_text() + "\n\ndef double(x):\n    while True:\n        pass\n")
    saved(f"{SHOWN}/exercise.yaml", "limits: {call_s: 0.2}")(home, pytest.MonkeyPatch())
    (first, _), (again, ran) = proved(home, pool), proved(home, pool)
    assert any("this right answer does not pass" in problem for problem in first.problems)
    assert (again.problems, ran) == (first.problems, 2)


def test_the_command_tells_what_was_not_run(home: Path) -> None:
    """It says how many runs are told from earlier; `--fresh` and `--json` run all."""
    said = "have not changed since they were last run: what is told is from then (--fresh runs all)"
    typed = ("verify", "double", "--seeds", "1")
    first, again, fresh = (run_grade(*typed, *more, cwd=home).stdout for more in ((), (), ("--fresh",)))
    assert (said in first, said in again, said in fresh) == (False, True, False)
    assert again.split("\n")[2:] == first.split("\n")[2:]
    assert "running" not in again
    assert ('"holds": true' in run_grade(*typed, "--json", cwd=home).stdout) is True
