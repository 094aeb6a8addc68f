"""Open the source of workers that suits the way to start them."""

from __future__ import annotations

from grader.model.messages import Start
from grader.runner.fresh_interpreters import FreshInterpreters
from grader.runner.promises import SandboxPlan
from grader.runner.worker_server import WorkerServer
from grader.runner.worker_source import WorkerSource
from grader.runner.zygote_client import Zygote


def open_worker_source(start: Start, plan: SandboxPlan, zygote: Zygote | None = None) -> WorkerSource:
    """Open a source of workers: a server that forks them, or fresh interpreters.

    Args:
        start: the way to start workers.
        plan: the plan of how workers are confined.
        zygote: the zygote that a worker server is forked from; by default one of its own.
    """
    return WorkerServer(plan, zygote) if start is Start.FORK else FreshInterpreters(plan)
