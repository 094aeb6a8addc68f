"""What the tests share: the pretend course, functions in real workers, short ways to grade a text."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any
from unittest import mock

import pytest
from click.testing import CliRunner, Result

from grader.author.judge import Proof
from grader.author.verify import Prover
from grader.cli import main
from grader.connection.connection import Connection, Proxy, proxy_of_name
from grader.course.load import find_exercises
from grader.grading.diagnosis import KnownMistakes
from grader.grading.lanes import grade_exercise
from grader.grading.outcomes import WorkResult
from grader.grading.plan import RunPlan, Work
from grader.grading.runtime import Processes, Runtime
from grader.grading.schedule import grade_submission
from grader.grading.store import open_store
from grader.intake.collect import read_submission
from grader.model import Course, DeviceKind, Exercise, GradedExercise, Limits, Submission
from grader.model.endings import CheckFailed
from grader.model.messages import Level, Setup, Start
from grader.model.progress import Cancel, Progress
from grader.runner.lane import Lane
from grader.runner.open_source import open_worker_source
from grader.runner.promises import ReachedLevel, SandboxPlan
from grader.runner.worker_server import WorkerServer
from grader.runner.worker_source import CheckProcess, Supply, WorkerSource
from grader.runner.zygote_client import Zygote
from grader.worker_process.fork import ForkStarter
from grader.worker_process.spawn import SpawnStarter
from grader.worker_process.starter import Starter

ROOT = Path(__file__).resolve().parents[1]
COURSES = ROOT / "tests" / "courses"

FORK, SPAWN = Setup(Start.FORK), Setup(Start.SPAWN)

RIGHT = "def double(x):\n    return 2 * x\n\n\ndef double_(x):\n    return x.mul_(2)\n"
"""Full marks in the exercise `double` of the pretend course."""

TOTAL = "def total(x):\n    return x.sum()\n"
"""The same in the other one."""


def add_module(home: Path) -> None:
    """Give the pretend course a third exercise, `again`, in a module of its own."""
    for top in ("exercises", "solutions"):
        shutil.copytree(home / top / "01_basics" / "total", home / top / "02_more" / "again")
    for path in [*(home / "exercises/02_more/again").glob("*.*"), *(home / "solutions/02_more/again").glob("*.py")]:
        path.rename(path.with_name(path.name.replace("total", "again")))
    description = home / "exercises/02_more/again/exercise.yaml"
    description.write_text(description.read_text().replace("01-2", "02-1").replace("[T1]", "[T2]"))
    text = (home / "course.yaml").read_text()
    module = "  - folder: 02_more\n    title: More\n    exercises: [again]\nhandins:"
    (home / "course.yaml").write_text(text.replace("handins:", module))
    (home / "exercises/topics.yaml").write_text("T1: Tensors\nT2: Strides of views\n")


Function = Callable[..., Proxy]
Grade = Callable[..., GradedExercise]


@contextmanager
def open_starter(start: Start, root: Path) -> Iterator[Starter]:
    """Starts workers in one of the two ways; spawned ones share no memory with us."""
    with closing(open_worker_source(start, SandboxPlan())) as source:
        supply = source.supply(0)
        starter: ForkStarter | SpawnStarter
        if supply.server is not None:
            starter = ForkStarter(supply.server, root, plain=supply.plain)
            source.wait_ready()
        else:
            starter = SpawnStarter(root, supply.command, lambda pid: None, plain=supply.plain_command)
        try:
            yield starter
        finally:
            starter.close()


@contextmanager
def functions(starter: Starter) -> Iterator[Function]:
    """Makes functions of modules that are given as text. Their workers end with it."""
    connections = []

    def make(
        text: str,
        name: str = "total",
        owner: str = "your",
        device: str = "none",
        files: Mapping[str, str] | None = None,
        **limits: Any,
    ) -> Proxy:
        # A check that counts or forbids rejects `os`, so only those get it that use it.
        head = "import os, torch\n" if "os." in text else "import torch\n"
        texts = {"work.py": head + text, **(files or {})}
        encoded = {path: content.encode() for path, content in texts.items()}
        connections.append(Connection(starter, "work", encoded, Limits(**limits), owner, device=DeviceKind(device)))
        return proxy_of_name(connections[-1], name)

    yield make
    for connection in connections:
        connection.close()


def grade_one(exercise: Exercise, submission: Submission, lane: Lane, seed: int = 0) -> GradedExercise:
    """Grade one exercise of a submission, also where nobody has touched it."""
    course = Course("", Path(), (), ())
    plan = RunPlan(course, [exercise], Setup(Start.FORK, seed=seed), runs_untouched=True)
    return grade_submission(plan, submission, InLane(lane)).exercises[0]


class InLane:
    """An executor that grades at once in a lane that is open."""

    slots = 1
    progress = Progress()

    def __init__(self, lane: Lane, known: KnownMistakes | None = None) -> None:
        self._lane = lane
        self._known = known

    def submit(self, work: Work) -> Future[WorkResult]:
        """Grade it."""
        return done_at_once(lambda lane: grade_exercise(work, lane, self._known), self._lane)


def done_at_once(job: Callable[[Lane], Any], lane: Lane) -> Future[Any]:
    """A future that has the result of a job in a lane, or what it raised."""
    future: Future[Any] = Future()
    try:
        future.set_result(job(lane))
    except BaseException as error:
        future.set_exception(error)
    return future


class SharedZygote(Zygote):
    """The one zygote of this process of tests: who closes it leaves it to others."""

    def close(self) -> None:
        """Others use it."""

    def end(self) -> None:
        """End it."""
        super().close()


class SharedServer(WorkerSource):
    """The one worker server of this process of tests, as the source of a lane or a pool, which does not close it.

    Args:
        server: gives the workers.
        first: the number that the source's first lane has there; its others have the next ones.
        least: how well workers must be confined.
    """

    def __init__(self, server: WorkerServer, first: int, least: Level) -> None:
        self._server = server
        self._first = first
        self._least = least

    def wait_ready(self) -> ReachedLevel:
        """Wait until workers can be started."""
        reached = self._server.wait_ready()
        reached.require(self._least)
        return reached

    def supply(self, lane: int, *, with_plain: bool = False) -> Supply:
        """What a lane starts its workers with."""
        return self._server.supply(self._first + lane, with_plain=with_plain)

    def open_check_process(self, lane: int, log: IO[bytes], *, with_plain: bool = False) -> CheckProcess:
        """Start the check process of a lane."""
        return self._server.open_check_process(self._first + lane, log, with_plain=with_plain)

    def was_lost(self, life: int) -> bool:
        """Whether the server of this life is gone."""
        return self._server.was_lost(life)

    def end_workers(self, lane: int) -> bool:
        """End the workers of a lane."""
        return self._server.end_workers(self._first + lane)

    def close(self) -> None:
        """The server serves others; the workers end with their lane."""


class Shelf:
    """Lanes whose check processes stay for the next test that opens one with this process's worker server.

    Each check process may read what any test may grade, so that it reads the checks of another course as it reads those
    of a file that was changed.

    Args:
        folders: what they may read.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._free: list[Lane] = []

    def open(self, exercises: Sequence[Exercise], source: WorkerSource, number: int, accelerator: DeviceKind) -> Any:
        """A lane in place of `Lane(...)`."""
        if not isinstance(source, SharedServer) or accelerator is not DeviceKind.SIM:
            return Lane(exercises, source, number, accelerator)
        if not self._free:
            return Kept(Lane(exercises, source, number, readable=self._folders), self.put_back)
        lane = self._free.pop()
        lane.recollect(exercises)
        return Kept(lane, self.put_back)

    def put_back(self, lane: Lane) -> None:
        """Keep a lane that has nothing to do; end any other."""
        if not lane.is_idle:
            lane.close()
            return
        lane.progress, lane.cancel = Progress(), Cancel()
        self._free.append(lane)

    def close(self) -> None:
        """End those that wait."""
        for lane in self._free:
            lane.close()


class Kept:
    """A lane that is not closed when its user closes it; everything else is the lane's.

    Args:
        lane: the lane.
        put_back: what becomes of it instead.
    """

    def __init__(self, lane: Lane, put_back: Callable[[Lane], None]) -> None:
        vars(self).update(lane=lane, close=lambda: put_back(lane))

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["lane"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(vars(self)["lane"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(vars(self)["lane"], name)


def open_already(lane: Lane) -> Processes:
    """The processes of a runtime whose one lane is open, and stays so. It has the checks that were collected."""

    def opened(exercises: Sequence[Exercise], *rest: object) -> Any:
        del exercises, rest
        before = lane.progress, lane.cancel

        def put_back(lane: Lane) -> None:
            lane.progress, lane.cancel = before

        return Kept(lane, put_back)

    return Processes(not_needed, lambda *_: WorkerSource(), opened)


def not_needed(**_: object) -> Any:
    """In place of a zygote from which nothing is forked."""
    return mock.Mock()


def runtime_of(lane: Lane, known: KnownMistakes | None = None) -> Runtime:
    """A runtime with one lane, which is open already."""
    return Runtime(lane.exercises, FORK, known=known, processes=open_already(lane))


def grader_of(course: Course, lane: Lane, folder: Path) -> Grade:
    """A function that grades a text as somebody's submission."""

    def grade(text: str | bytes, exercise: str = "double", seed: int = 0) -> GradedExercise:
        (chosen,) = find_exercises(course, exercise)
        path = folder / chosen.file_name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return grade_one(chosen, read_submission(folder, [chosen], "somebody"), lane, seed)

    return grade


class Noted(Progress):
    """Keeps what a run notes.

    Attributes:
        lines: what was noted.
        advances: how much was done each time.
        exercises: what was graded.
    """

    def __init__(self) -> None:
        self.exercises: list[GradedExercise] = []
        self.lines: list[str] = []
        self.advances: list[tuple[int, int]] = []

    def noted(self, line: str) -> None:
        """Keep it."""
        self.lines.append(line)

    def graded(self, graded: GradedExercise, confinement: str | None, *, saved: bool) -> None:
        """Keep it."""
        del confinement, saved
        self.exercises.append(graded)

    def advanced(self, done: int, total: int) -> None:
        """Keep both."""
        self.advances.append((done, total))


def verified(course: Course, exercises: Sequence[Exercise], seeds: int = 1, **named: Any) -> list[Proof]:
    """What `grade verify` shows with nothing saved."""
    with open_store(None) as store:
        return Prover(course, FORK, store, seeds, **{"progress": Noted(), **named}).verify(exercises)


def failure(function: Callable[..., object], *args: object, **kwargs: object) -> CheckFailed:
    """How a helper of checks fails."""
    with pytest.raises(CheckFailed) as failed:
        function(*args, **kwargs)
    return failed.value


def verdicts(graded: GradedExercise) -> dict[str, str]:
    """The verdict of each check, by its id."""
    return {row.check.id: row.outcome.verdict.value for row in graded.checks}


def message(graded: GradedExercise, check: str) -> str:
    """The message of one check."""
    return next(row.outcome.message for row in graded.checks if row.check.id == check)


@contextmanager
def open_lane(exercises: Sequence[Exercise], setup: Setup, hidden: Sequence[Path] = ()) -> Iterator[Lane]:
    """One lane; the arguments and errors are those of `Runtime`."""
    with Runtime(exercises, setup, hidden=hidden) as runtime, closing(runtime.open_lane()) as lane:
        yield lane


class WarmGrade:
    """Types commands into the program in this process, which saves the start of it and of a lane."""

    def __call__(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a command as `run_grade` does."""
        ran = self.result(*arguments, cwd=cwd)
        return subprocess.CompletedProcess(arguments, ran.exit_code, ran.stdout, ran.stderr)

    def result(self, *arguments: str, cwd: Path) -> Result:
        """The same, with both outputs as they come, too."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(cwd)
            ran = CliRunner().invoke(main, arguments, prog_name="grade")
        if ran.exception is not None and not isinstance(ran.exception, SystemExit):
            raise ran.exception
        return ran


def run_grade(*arguments: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    command = [sys.executable, "-m", "grader", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, encoding="utf-8", timeout=240, check=False
    )


def git(folder: Path, *words: str, at: str = "2026-11-20T12:00:00+00:00") -> None:
    """Run git as somebody, at a time."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false")
    env = {**os.environ, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, env=env)


def commit(folder: Path, files: Mapping[str, str | bytes], at: str = "2026-11-20T12:00:00+00:00") -> None:
    """Commit all files of a repository, after these were written."""
    written(folder, files)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "x", at=at)


def make_deep(folder: Path, levels: int) -> None:
    """Make so many folders in each other, all of the name `a`; who makes them removes them by `remove_folder`."""
    here = os.getcwd()
    os.chdir(folder)
    for _ in range(levels):
        os.mkdir("a")
        os.chdir("a")
    os.chdir(here)


def written(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """A folder with these files in it."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return folder


def read(folder: Path) -> dict[str, bytes]:
    """What is in each of its files."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def files_in(submission: Submission) -> dict[str, Mapping[str, bytes]]:
    """The files of each exercise that a submission has."""
    return {id: own.files for id, own in submission.exercises.items() if own.files}


def problems_in(submission: Submission) -> dict[str, str]:
    """Why it has no files of an exercise."""
    return {id: own.problem for id, own in submission.exercises.items() if own.problem}
