"""Processes that are started before it is known what is graded: a runtime takes them over, or they end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from grader.course.layout import closed_folders
from grader.model import Course
from grader.model.messages import Level, Start
from grader.runner.early import EarlyProcesses
from grader.runner.promises import SandboxPlan
from grader.runner.worker_server import WorkerServer


@pytest.fixture
def early(tiny: Course, monkeypatch: pytest.MonkeyPatch) -> Iterator[EarlyProcesses]:
    """Those of a course, which do not stay."""
    monkeypatch.setenv("TENSORGRADE_WARM", "0")
    with closing(EarlyProcesses(tiny.root, Level.NONE.word)) as early:
        yield early


def not_wanted(*_: Any, **__: Any) -> Any:
    """In place of what opens others."""
    raise AssertionError("others were opened")


def test_a_runtime_takes_over_what_serves_its_plan(early: EarlyProcesses, tiny: Course) -> None:
    """The zygote and the server are those that were started, with workers that cannot see the course."""
    hidden = {tiny.root, *closed_folders(tiny.root)}
    with (
        closing(early.take_zygote(not_wanted)) as zygote,
        closing(early.take_server(not_wanted, Start.FORK, SandboxPlan(hidden=tuple(hidden)), zygote)) as server,
    ):
        assert server.wait_ready().level > Level.NONE
        lane = server.supply(0).server
        assert lane is not None
        lane.close()


def test_what_does_not_serve_a_plan_ends(early: EarlyProcesses, tiny: Course) -> None:
    """A server that shows workers a folder which is to be hidden is not taken; neither is one that was taken before."""
    first = early._server
    assert first is not None
    asked: list[SandboxPlan] = []

    def opened(start: Start, plan: SandboxPlan, zygote: Any) -> WorkerServer:
        del start
        asked.append(plan)
        return WorkerServer(plan, zygote)

    other = SandboxPlan(hidden=(tiny.root, *closed_folders(tiny.root), Path("/opt")))
    with closing(early.take_zygote(not_wanted)) as zygote:
        for number in (1, 2):
            with closing(early.take_server(opened, Start.FORK, other, zygote)) as server:
                assert server is not first
                assert len(asked) == number
        assert first._process.wait(20) is not None
