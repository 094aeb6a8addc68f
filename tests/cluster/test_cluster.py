"""A class graded on a cluster: whatever becomes of its machines, the outcome is that of one batch on this machine."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import dask
import pytest
from batch.pretend import PretendClass
from batch.test_journal import results
from distributed import LocalCluster
from grader.grading.grade import Sheet
from support import FORK

from grader.cli import main
from grader.cluster import cluster
from grader.cluster.address import Address
from grader.cluster.cluster import Cluster
from grader.model import Course
from grader.model.errors import CourseError

VERDICTS = ("passed", "failed", "timed_out", "inconclusive")
HERE, THERE = "tcp://10.0.0.1:4000", "tcp://10.0.0.2:4000"


def test_a_machine_is_lost(tiny: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process that is killed was at is graded by another one: the gradebook is that of this machine's lanes."""
    whole, spread = PretendClass(tiny, tmp_path / "whole"), PretendClass(tiny, tmp_path / "spread")
    for pretend in (whole, spread):
        for place in range(24):
            pretend.hand_in(f"author{place:02}", double=VERDICTS[place % 4], total=VERDICTS[place // 2 % 4])
        pretend.out.mkdir()
        (pretend.out / "seed").write_text(f"{bytes(32).hex()}\n")
    expected = whole.grade()
    made: list[LocalCluster] = []

    def remembered(**options: Any) -> LocalCluster:
        made.append(LocalCluster(**options))
        return made[0]

    killed: list[int] = []
    write = cluster.Cluster.submit

    def submit(self: Cluster, work: bytes) -> Any:
        if self.submitted == 12:  # type: ignore[attr-defined]
            killed.append(next(iter(made[0].workers.values())).process.pid)
            os.kill(killed[0], signal.SIGKILL)
        self.submitted += 1  # type: ignore[attr-defined]
        return write(self, work)

    monkeypatch.setattr(Cluster, "submitted", 0, raising=False)
    monkeypatch.setattr(Cluster, "submit", submit)
    monkeypatch.setattr(cluster, "LocalCluster", remembered)
    preload = [str(Path(__file__).with_name("pretend_lanes.py"))]
    with dask.config.set({"distributed.worker.preload": preload}):
        assert spread.grade(engine="local:2", slots=2) == expected
    assert len(killed) == 1
    assert results(spread.out) == results(whole.out)


class PretendClient:
    """A client of machines that are there; what is sent to them stays there."""

    def __init__(self, *machines: str) -> None:
        self.machines = dict.fromkeys(machines, 1)
        self.sent: list[mock.Mock] = []

    def nthreads(self) -> dict[str, int]:
        return self.machines

    def get_executor(self, **options: object) -> mock.Mock:
        return mock.Mock(submit=self._submit)

    def _submit(self, *what: object) -> mock.Mock:
        self.sent.append(mock.Mock())
        return self.sent[-1]


Made = Callable[..., tuple[Cluster, PretendClient, list[str]]]


@pytest.fixture
def made(tiny: Course) -> Made:
    """Makes clusters of machines, with what was noted."""

    def make(*machines: str) -> tuple[Cluster, PretendClient, list[str]]:
        client, notes = PretendClient(*machines), list[str]()
        return Cluster(client, "name", Sheet(tiny, tiny.exercises, FORK), notes.append), client, notes  # type: ignore[arg-type]

    return make


def told(address: str, refused: str = "", slots: int = 4) -> tuple[float, dict[str, Any]]:
    return 0.0, {"address": address, "host": "lab3", "slots": slots, "refused": refused}


def test_a_machine_is_refused(made: Made) -> None:
    """It is named with why, once, and the others work; where all are refused, the batch is."""
    one, _, notes = made(HERE, THERE)
    one.heard(told(HERE))
    for _ in range(2):
        one.heard(told(THERE, "it has PyTorch 2.12.0, where 2.13.0 is asked for"))
    one.begin({}, mock.Mock(side_effect=ImportError("one of them lacks something")))
    assert one.slots == 4
    assert notes == [f"lab3 ({THERE}) is refused: it has PyTorch 2.12.0, where 2.13.0 is asked for"]
    one.close()
    none, _, notes = made(HERE, THERE)
    none.heard(told(THERE, "no walls"))
    with pytest.raises(CourseError, match="no machine of the cluster can grade this: mend what is told above"):
        none.begin({HERE: "tensorgrade cannot be used there"}, mock.Mock())
    assert notes == [
        f"lab3 ({THERE}) is refused: no walls",
        f"a machine ({HERE}) is refused: tensorgrade cannot be used there",
    ]


def test_all_machines_are_lost(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is away is sent again when there is one again; where none comes, or all are refused, the run ends."""
    one, client, _ = made(HERE)
    one.heard(told(HERE))
    future = one.submit(b"work")
    one.look({})
    assert (len(client.sent), one.slots) == (1, 1)
    one.heard(told(THERE, slots=2))
    one.look({THERE: 2})
    assert (len(client.sent), one.slots) == (2, 2)
    client.sent[0].cancel.assert_called_once()
    one.heard(told(THERE, "its check process did not start"))
    one.look({THERE: 2})
    assert "all of its machines were refused; the same command goes on" in str(future.exception(0))
    future = one.submit(b"work")
    one.look({})
    assert not future.done()
    monkeypatch.setattr(cluster, "_PATIENCE_S", -1)
    one.look({})
    assert "all of its machines were lost; the same command goes on" in str(future.exception(0))


@pytest.mark.parametrize("text", ["tls://lab:8786", "tcp://lab:8786", "local:3"])
def test_an_address(text: str) -> None:
    """A cluster is named by its scheduler's address, or by the number of processes of one of this machine's."""
    assert Address.of(text) == Address(text, machines=3 if text == "local:3" else 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cluster", "lab3"], "'lab3' is none; write the scheduler's address, such as tls://HOST:8786"),
        (["--cluster", "local:0"], "'local:0' is none"),
        (["--cluster", "no/such/scheduler.json"], "there is no file no/such/scheduler.json"),
        (["--cluster", "tls://lab:1", "-j", "3"], "-j says nothing of a cluster"),
        (["--cluster", "local:2", "--confinement", "none"], "--cluster needs walls"),
        (["--cluster", "local:2"], "install it with  pip install 'tensorgrade[cluster]'"),
    ],
)
def test_what_is_refused_at_once(
    options: list[str],
    message: str,
    tiny: Course,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A wrong address, lanes of a cluster's, no walls and no Dask are told with what to do."""
    monkeypatch.setitem(sys.modules, "grader.cluster.cluster", None)
    (tmp_path / "in" / "ada").mkdir(parents=True)
    (tmp_path / "in" / "ada" / "double.py").write_text("")
    with pytest.raises(SystemExit) as ended:
        main(["batch", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--course", str(tiny.root), *options])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
