"""A class graded on a cluster: whatever becomes of its machines, the outcome is that of one batch on this machine."""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import dask
import pytest
from batch import pretend
from batch.pretend import PretendClass
from batch.test_journal import results
from click.testing import CliRunner
from distributed import KilledWorker, LocalCluster, Reschedule, SpecCluster
from distributed.core import Status
from distributed.scheduler import NoWorkerError
from support import FORK, RIGHT, Noted

from grader.cli import main
from grader.cluster import cluster
from grader.cluster.cluster import Cluster, NodePlugin, RemoteResult, machine_facts, open_cluster
from grader.grading.diagnosis import KnownMistakes
from grader.grading.lanes import grade_exercise
from grader.grading.outcomes import Outcomes, WorkResult, is_broken
from grader.grading.packed_plan import pack_plan, unpack_plan
from grader.grading.plan import RunPlan, Work
from grader.grading.store import Keys
from grader.intake.collect import read_submission
from grader.model import Course, Submission
from grader.model.errors import CourseError, StartError
from grader.model.messages import Level
from grader.model.progress import Progress
from grader.runner.lane import Lane

pytestmark = [pytest.mark.lane, pytest.mark.slow]

VERDICTS = ("passed", "failed", "timed_out", "inconclusive")
# The processes of clusters have lanes that start no process.
PRETENDED = {"distributed.worker.preload": [pretend.__file__]}


def test_machines_are_lost(tiny: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process that is killed was grading is graded by another one, also by one that comes when all are gone.

    It may take as long to come as a busy machine needs: by itself, Dask would give it up after the time that is set.
    """
    whole, spread = (PretendClass.of(tiny, tmp_path / name, 16, VERDICTS) for name in ("whole", "spread"))
    whole.grade()
    made: list[SpecCluster] = []
    make = cluster._local_cluster

    def remembered(processes: int, threads: int) -> SpecCluster:
        made.append(make(processes, threads))
        return made[0]

    submitted, killed = [0], list[int]()
    losses = {8: 1, 20: 2}
    submit = Cluster.submit

    def started() -> list[int]:
        """Those that Dask starts again when they are killed; one that is starting may be given up."""
        running = [nanny for nanny in made[0].workers.values() if nanny.process.status is Status.running]
        return [nanny.pid for nanny in running if nanny.pid not in killed]

    def submit_and_kill(self: Cluster, work: Work) -> Any:
        if most := losses.get(submitted[0]):
            until = time.monotonic() + 120
            while len(alive := started()) < 2 and time.monotonic() < until:
                time.sleep(0.05)
            for pid in alive[:most]:
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)
        submitted[0] += 1
        return submit(self, work)

    monkeypatch.setattr(Cluster, "submit", submit_and_kill)
    monkeypatch.setattr(cluster, "_local_cluster", remembered)
    with dask.config.set(PRETENDED | {"distributed.deploy.lost-worker-timeout": "100ms"}):
        spread.grade(slots=2, executor=lambda plan, progress: open_cluster("local:2", plan, 2, progress))
    assert len(killed) == 3
    assert results(spread.out) == results(whole.out)


def test_no_port_of_a_cluster_made_here_answers_without_a_certificate(tiny: Course, submission: Submission) -> None:
    """`local:1` opens ports of Dask's own protocol alone, with TLS: a plain request of another user gets nothing."""
    plan = RunPlan(tiny, tiny.exercises, replace(FORK, least=Level.FULL))
    words = submission.with_files(tiny.exercises[0], {"double.py": b"passed"})
    with dask.config.set(PRETENDED), open_cluster("local:1", plan, 1, Progress()) as opened:
        assert opened.submit(Work(plan, tiny.exercises[0], words)).result().confinement == "full"
        psutil = importlib.import_module("psutil")  # which Dask needs, and which has no types
        me = psutil.Process()
        rows = [row for each in (me, *me.children(recursive=True)) for row in each.net_connections("tcp")]
        ports = {row.laddr for row in rows if row.status == psutil.CONN_LISTEN}
        assert ports
        for host, port in ports:
            assert host == "127.0.0.1"
            with socket.create_connection((host, port), timeout=10) as sock:
                sock.sendall(b"GET /info/main/workers.html HTTP/1.0\r\n\r\n")
                with suppress(ConnectionError):
                    assert b"HTTP" not in sock.recv(4096)


def test_the_end_of_a_batch(tiny: Course, submission: Submission, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the client goes, nodes give everything back, and the scheduler is as before; notes say who was refused."""
    notes = Noted()
    with (
        dask.config.set(PRETENDED),
        LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address="127.0.0.1:0") as made,
    ):
        before = made.scheduler.allowed_failures, made.scheduler.no_workers_timeout
        plan = RunPlan(tiny, tiny.exercises, replace(FORK, least=Level.FULL))
        with open_cluster(made.scheduler_address, plan, 1, notes) as opened:
            words = submission.with_files(tiny.exercises[0], {"double.py": b"passed"})
            assert opened.submit(Work(plan, tiny.exercises[0], words)).result().confinement == "full"
            assert opened.slots == 2
            (worker,) = made.scheduler.workers.values()
            (course,) = Path(worker.local_directory).glob("grade-course-*")
            assert made.scheduler.allowed_failures == 1
        until = time.monotonic() + 60
        while course.exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert not course.exists()
        assert (made.scheduler.allowed_failures, made.scheduler.no_workers_timeout) == before
        monkeypatch.setattr(cluster, "machine_facts", lambda setup: {**machine_facts(setup), "PyTorch": "1.0"})
        refused = pytest.raises(CourseError, match="no machine of the cluster can grade this: fix the problems above")
        with refused, open_cluster(made.scheduler_address, plan, 1, notes) as opened:
            opened.submit(Work(plan, tiny.exercises[0], words))
    insecure = "is open: whoever reaches it can read hidden checks and change grades; use tls://"
    assert notes.lines[:-1] == [f"{made.scheduler_address} {insecure}"] * 2
    assert ") is refused: it has PyTorch " in notes.lines[-1]


@pytest.fixture
def submission(tiny: Course, tmp_path: Path) -> Submission:
    """One that is half right."""
    (tmp_path / "double.py").write_text("def double(x):\n    return x + x\n")
    (tmp_path / "total.py").write_text("def total(x):\n    return x.sum() + 1\n")
    return read_submission(tmp_path, tiny.exercises, "ada")


def test_what_becomes_of_work(tiny: Course, submission: Submission, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result is a result, an error an error; lost twice it is broken; without machines the run ends."""
    one = Cluster(mock.Mock(), "tls://lab:1", RunPlan(tiny, tiny.exercises, FORK), Progress())
    ends: Iterator[dict[str, Any]] = iter(
        [
            {"return_value": (Outcomes("started"), "full", True)},
            {"side_effect": ValueError("a defect")},
            {"side_effect": KilledWorker("work", mock.Mock(address="tcp://1"), 1)},
            {"side_effect": NoWorkerError("work", 1)},
            {"side_effect": CancelledError()},
            {"side_effect": CancelledError()},
        ]
    )

    def done(*what: object, **how: object) -> mock.Mock:
        theirs = mock.Mock(result=mock.Mock(**next(ends)))
        theirs.add_done_callback = lambda came: came(theirs)
        return theirs

    monkeypatch.setattr(one, "_set_up_workers", lambda client: mock.Mock(submit=done, status="running"))
    monkeypatch.setattr(one, "_name", "name", raising=False)
    work = Work(one._plan, tiny.exercises[0], submission)
    futures = [one.submit(work) for _ in range(5)]
    assert futures[0].result(0) == WorkResult(work, Outcomes("started").graded(work.exercise), "full", starved=True)
    assert isinstance(futures[1].exception(0), ValueError)
    graded = futures[2].result(0).graded
    assert is_broken(graded)
    assert (graded.score.earned, graded.score.undecided) == (0, graded.score.possible)
    for future in futures[3:]:
        assert isinstance(future.exception(0), StartError)
        assert "the same command goes on from there" in str(future.exception(0))


def test_a_bundle_holds_all_that_is_judged_by(tiny: Course, tmp_path: Path, submission: Submission) -> None:
    """Unpacked, its exercises have the digests of the course's: checks, limits, references, known wrong answers."""
    plan = RunPlan(tiny, tiny.exercises, replace(FORK, secret=b"s"), handin="week1")
    there = unpack_plan(pack_plan(plan), tmp_path / "there")
    assert (there.setup, there.handin, there.course.title) == (plan.setup, "week1", tiny.title)
    mine, theirs = Keys(), Keys()
    for own, other in zip(plan.exercises, there.exercises, strict=True):
        assert theirs.of(Work(there, other, submission)) == mine.of(Work(plan, own, submission))
        assert other.hidden_checks is None or other.hidden_checks.is_relative_to(tmp_path / "there")
        assert other.closed[0] == tmp_path / "there"


def test_a_node_grades_like_a_lane_here(tiny: Course, tmp_path: Path, submission: Submission, fork_lane: Lane) -> None:
    """It unpacks the course for nobody else to read, finds what is found here, and leaves nothing."""
    plan = RunPlan(tiny, tiny.exercises, FORK)
    known, works = KnownMistakes(FORK), [Work(plan, exercise, submission) for exercise in tiny.exercises]
    expected = [grade_exercise(work, fork_lane, known) for work in works]
    (tmp_path / "place").mkdir()
    worker = mock.Mock(local_directory=str(tmp_path / "place"), contact_address="tcp://there")
    worker.state.nthreads, worker.set_resources = 1, mock.AsyncMock()
    worker.scheduler.set_resources = mock.AsyncMock()
    plugin = NodePlugin("name", pack_plan(plan), machine_facts(FORK), local=False)

    async def run() -> list[RemoteResult]:
        await plugin.setup(worker)
        (folder,) = (tmp_path / "place").iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        came = [await asyncio.to_thread(plugin.grade, (work.exercise.id, submission, None)) for work in works]
        lost = mock.patch.object(plugin, "_lanes", mock.Mock(submit=mock.Mock(side_effect=StartError("no process"))))
        with lost, pytest.raises(Reschedule):
            await asyncio.to_thread(plugin.grade, ("double", submission, None))
        await plugin.teardown(worker)
        return came

    found = [(outcomes, confinement) for outcomes, confinement, _ in asyncio.run(run())]
    assert [plain(outcomes) for outcomes, _ in found] == [plain(Outcomes.of(result.graded)) for result in expected]
    assert [confinement for _, confinement in found] == [result.confinement for result in expected]
    worker.set_resources.assert_awaited_once_with(name=1)
    worker.scheduler.set_resources.assert_awaited_once_with(worker="tcp://there", resources={"name": 0})
    assert [call.args[1]["why"] for call in worker.log_event.call_args_list] == ["", "no process"]
    assert list((tmp_path / "place").iterdir()) == []


def plain(outcomes: Outcomes) -> Outcomes:
    """The outcomes without their times."""
    return replace(outcomes, outcomes=tuple(replace(outcome, seconds=0.0) for outcome in outcomes.outcomes))


def test_a_batch_as_it_is_typed(tiny: Course, tmp_path: Path) -> None:
    """With real lanes; machines of the batch's own end without a traceback of Dask."""
    (tmp_path / "in" / "ada").mkdir(parents=True)
    (tmp_path / "in" / "ada" / "double.py").write_text(RIGHT)
    words = ["batch", tmp_path / "in", "--out", tmp_path / "out", "--course", tiny.root, "--cluster", "local:2", "-q"]
    command = [sys.executable, "-m", "grader", *map(str, words)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "ada" in (tmp_path / "out" / "gradebook.csv").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cluster", "lab3"], "'lab3' is not an address; write the scheduler's, such as tls://HOST:8786"),
        (["--cluster", "local:0"], "'local:0' is not an address"),
        (["--cluster", "no/such/scheduler.json"], "there is no file no/such/scheduler.json"),
        (["--cluster", "tls://lab:1", "-j", "3"], "-j has no effect on a cluster"),
        (["--cluster", "local:2", "--confinement", "none"], "--cluster needs a sandbox"),
        (["--cluster", "local:1"], 'install it with  pip install "cryptography>=43" "distributed>=2026.8"'),
    ],
)
def test_what_is_refused_at_once(
    options: list[str], message: str, tiny: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong address, lanes of a cluster's, no sandbox and no Dask are told with what to do."""
    if "local:1" in options:
        monkeypatch.setitem(sys.modules, "grader.cluster.cluster", None)
    (tmp_path / "in" / "ada").mkdir(parents=True)
    (tmp_path / "in" / "ada" / "double.py").write_text("")
    words = [tmp_path / "in", "--out", tmp_path / "out", "--course", tiny.root, *options]
    ran = CliRunner().invoke(main, ["batch", *map(str, words)])
    assert (ran.exit_code, message in ran.stderr) == (2, True)
