"""Our own faults, the checks' among them, are `broken`: told as ours, exit status 3, and no points lost."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from check_process.courses import course_with
from support import COURSES, FORK, RIGHT, WarmGrade, grader_of, open_lane, verdicts

from grader.course.load import load_course
from grader.model import Course
from grader.runner.lane import Lane

pytestmark = pytest.mark.lane

BROKEN = '''
import time

import pytest
import torch

from grader.check import check, assert_values


@check("C1")
def check_raises(student):
    """Raises an error of its own"""
    {}["missing"]


@check("C1")
def check_hangs(student):
    """Takes for ever"""
    time.sleep(100)


@check("C1")
def check_slow_call_is_not_ours(student):
    """A slow call is not the check's own time"""
    for _ in range(4):
        student.double(torch.ones(()))


@check("C1")
def check_swallows(student):
    """Swallows everything that a call raises"""
    try:
        student.double(torch.ones(9))
    except BaseException:
        pass


@check("C1")
def check_reference(student, reference):
    """Asks a reference that raises"""
    reference.triple(torch.ones(2))


@check("C1")
def check_skips(student):
    """Needs something that is not here"""
    pytest.skip("needs a second disk")


@check("C1", device="sim")
def check_sim(student):
    """Runs on the simulated accelerator"""


@check("C1")
def check_plain(student):
    """A plain assert"""
    assert student.double(3) == 7


@check("C1")
def check_raising(student):
    """Refuses strings"""
    with pytest.raises(ValueError):
        student.double("a")


@pytest.mark.parametrize("n", [1, 2])
@check("C1")
def check_many(student, n):
    """Many sizes"""
    assert_values(student.double(torch.ones(n)), torch.ones(n) * 2)
'''

SLOW = """
import os, time
def double(x):
    if getattr(x, 'ndim', 1) == 0:
        time.sleep(0.4)
    if getattr(x, 'shape', None) == (9,):
        os._exit(1)
    return 2 * x
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course with checks that are at fault themselves."""
    root = course_with(tmp_path_factory.mktemp("broken"), BROKEN, "").root
    (root / "solutions/01_basics/double/double.py").write_text("def triple(x):\n    raise RuntimeError('mine')\n")
    (root / "solutions/01_basics/total/check_total.py").write_text("import no_such_module\n")
    yaml = root / "course.yaml"
    yaml.write_text(yaml.read_text() + "  check_s: 1\n  exercise_s: 30\n")
    return load_course(root)


@pytest.fixture(scope="module")
def lane(course: Course) -> Iterator[Lane]:
    """A lane for that course."""
    with open_lane(course.exercises, FORK) as opened:
        yield opened


def test_each_fault_gets_its_verdict(course: Course, lane: Lane, tmp_path: Path) -> None:
    """A check's own error, its hanging and a reference that raises are broken; what a check swallows is not lost."""
    graded = grader_of(course, lane, tmp_path)(SLOW)
    assert verdicts(graded) == {
        "raises": "broken",
        "hangs": "broken",
        "slow_call_is_not_ours": "passed",
        "swallows": "crashed",
        "reference": "broken",
        "skips": "not_run",
        "sim": "passed",
        "plain": "failed",
        "raising": "failed",
        "many[1]": "passed",
        "many[2]": "passed",
    }
    told = {row.check.id: row.outcome for row in graded.checks}
    assert told["raises"].message.startswith("this check is broken; that is not your fault")
    assert "KeyError: 'missing'" in told["raises"].detail
    assert "check_double.py" in told["raises"].detail
    assert "the check's own code took longer than 1 seconds" in told["hangs"].detail
    assert "the reference raised RuntimeError: mine" in told["reference"].detail
    assert told["plain"].message.startswith("this does not hold: student.double(3) == 7\ngot       6\nexpected  7\n")
    assert told["raising"].message.startswith("expected a ValueError, but nothing was raised")
    lost = graded.score.possible - graded.score.earned - graded.score.undecided
    assert lost == sum(row.score.possible for row in graded.checks if row.check.id in ("swallows", "plain", "raising"))


def test_checks_that_cannot_be_collected(course: Course, lane: Lane, tmp_path: Path) -> None:
    """A check file that does not import breaks its exercise, and no other."""
    graded = grader_of(course, lane, tmp_path)("def total(x):\n    return x.sum()\n", "total")
    assert verdicts(graded) == {"collection": "broken"}
    assert "no_such_module" in graded.checks[0].outcome.detail
    assert graded.score.undecided == graded.score.possible == 500


def test_broken_is_exit_status_3(type_grade: WarmGrade, course: Course, tmp_path: Path) -> None:
    """The command tells that the checks are at fault."""
    (tmp_path / "total.py").write_text("def total(x):\n    return x.sum()\n")
    ran = type_grade("total", "--submission", str(tmp_path), cwd=course.root)
    assert ran.returncode == 3
    assert "5 points are undecided (broken): neither earned nor lost" in ran.stdout


def test_spawned_workers_end_at_the_exercises_deadline(tiny: Course, spawn_lane: Lane, tmp_path: Path) -> None:
    """An exercise that takes too long as a whole is ended; what was decided before stays, the lane goes on."""
    seconds = 4
    root = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    yaml = root / "exercises/01_basics/double/exercise.yaml"
    yaml.write_text(yaml.read_text() + f"limits: {{call_s: 100, exercise_s: {seconds}}}\n")
    course = load_course(root)
    spawn_lane.recollect(course.exercises)
    try:
        grade = grader_of(course, spawn_lane, tmp_path)
        graded = grade("import time\ndef double(x):\n    time.sleep(100)\n")
        assert verdicts(graded)["small"] == "timed_out"
        assert f"the exercise as a whole took longer than {seconds} seconds" in graded.checks[0].outcome.message
        # The next exercise, whose deadline a loaded machine does not reach.
        assert grade("def total(x):\n    return x.sum()\n", "total").score.earned == 500
    finally:
        spawn_lane.recollect(tiny.exercises)


@pytest.mark.usefixtures("own_server")
def test_nothing_stays_behind(tiny: Course, tmp_path: Path) -> None:
    """After a run no process of ours and no folder of a worker is left."""
    before = descendants(os.getpid())
    with open_lane(tiny.exercises, FORK) as lane:
        root = Path(lane._root)
        assert root.is_dir()
        grade = grader_of(tiny, lane, tmp_path)
        grade("import os, time\nif os.fork() == 0:\n    time.sleep(60)\n" + RIGHT)
        started = descendants(os.getpid()) - before
    assert not root.exists()
    assert not left_of(started, seconds=0)


def running() -> dict[tuple[int, str], int]:
    """The parent of every process that has not ended, which is named by its pid and start time."""
    rows = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = path.read_text().rpartition(")")[2].split()
            if words[0] != "Z":
                rows[int(path.parent.name), words[19]] = int(words[1])
    return rows


def descendants(pid: int) -> set[tuple[int, str]]:
    """Every process that descends from this one now."""
    rows, found, fresh = running(), set[tuple[int, str]](), {pid}
    while fresh:
        children = {row for row, parent in rows.items() if parent in fresh}
        found |= children
        fresh = {child for child, _ in children}
    return found


def left_of(
    processes: set[tuple[int, str]], folders: Iterable[Path] = (), seconds: float = 60
) -> set[tuple[int, str] | Path]:
    """Those processes and folders that are still there after a while."""
    until = time.monotonic() + seconds
    while left := (processes & running().keys()) | {path for path in folders if path.exists()}:
        if time.monotonic() > until:
            break
        time.sleep(0.1)
    return left


def has_printed(place: Path) -> bool:
    """Whether a worker has printed anything; the output of one that has ended goes while this looks."""
    for path in place.glob("grade-*/w*.out"):
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_size:
                return True
    return False


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_is_ended_leaves_no_process(tmp_path: Path, end: signal.Signals) -> None:
    """Interrupted or killed in the middle of an endless loop, `grade` leaves no process and no folder."""
    (tmp_path / "double.py").write_text("def double(x):\n    print(1, flush=True)\n    while True: pass\n")
    command = [sys.executable, "-m", "grader", "double", "--submission", str(tmp_path)]
    root = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    (root / "course.yaml").write_text((root / "course.yaml").read_text().replace("call_s: 2", "call_s: 60"))
    place = tmp_path / "temporary"
    place.mkdir()
    env = {**os.environ, "TMPDIR": str(place)}
    host = subprocess.Popen(command, cwd=root, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 120
    while not has_printed(place) and time.monotonic() < until:
        time.sleep(0.1)
    folders = {path.parent for path in place.glob("grade-*/w*.out")}
    assert folders
    started = descendants(host.pid)
    assert len(started) >= 3
    host.send_signal(end)
    _, told = host.communicate(timeout=60)
    assert told == ("grade: interrupted\n" if end == signal.SIGINT else "")
    assert not left_of(started, folders)


def test_processes_that_keep_cores_busy_end_with_the_one_that_was_killed() -> None:
    """`grade verify` runs half of its seeds beside such processes."""
    program = (
        "import time; from grader.author.verify import _busy_cores\n"
        "with _busy_cores(1): print(flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        started = descendants(process.pid)
        process.kill()
    assert started
    assert not left_of(started)
