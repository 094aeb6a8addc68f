"""Processes that are started before it is known what is graded, while the host still imports what grading needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from grader.course.layout import COURSE_FILE, closed_folders
from grader.runner.zygote_client import Zygote, open_zygote

if TYPE_CHECKING:
    from grader.model.messages import Start
    from grader.runner.promises import SandboxPlan
    from grader.runner.worker_server import WorkerServer
    from grader.runner.worker_source import WorkerSource


class EarlyProcesses:
    """A zygote and a worker server that are started early; a runtime may take them, else `close` ends them.

    Args:
        root: the folder of the course. No worker may see it, nor what else the course hides.
        least: the name of the least level of confinement; see `SandboxPlan`.
    """

    def __init__(self, root: Path, least: str) -> None:
        self._zygote: Zygote | None = open_zygote(warm=True, soon=True)
        self._server: WorkerServer | None = None
        try:
            # Not before: while these are imported, the zygote imports PyTorch.
            from grader.model.messages import Level
            from grader.runner.promises import SandboxPlan
            from grader.runner.worker_server import WorkerServer

            hidden = {root, *closed_folders(root)}
            plan = SandboxPlan(Level.of(least), hidden=tuple(sorted(hidden)), readable=root / COURSE_FILE)
            self._server = WorkerServer(plan, self._zygote)
        except BaseException:
            self._zygote.close()
            raise

    def take_zygote(self, open_new: Callable[..., Zygote], **options: bool) -> Zygote:
        """Return the zygote that was started early, or a new one if it was taken before.

        A new one is the result of `open_new(**options)`. The caller closes the zygote.
        """
        taken, self._zygote = self._zygote, None
        return taken or open_new(**options)

    def take_server(
        self,
        open_new: Callable[[Start, SandboxPlan, Zygote | None], WorkerSource],
        start: Start,
        plan: SandboxPlan,
        zygote: Zygote,
    ) -> WorkerSource:
        """Return the worker server that was started early, if it fits a plan.

        Otherwise, return a source that `open_new` opens. The caller closes the result.

        Args:
            open_new: a function that opens a source of workers.
            start: the way to start workers.
            plan: the plan of how workers are confined.
            zygote: the zygote that forks workers, if there is one.
        """
        taken, self._server = self._server, None
        if taken is not None and taken.prepare_for(plan):
            return taken
        if taken is not None:
            taken.close()
        return open_new(start, plan, zygote)

    def close(self) -> None:
        """End the zygote and the worker server, unless they were taken."""
        if self._server is not None:
            self._server.close()
        if self._zygote is not None:
            self._zygote.close()
