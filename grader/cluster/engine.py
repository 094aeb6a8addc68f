"""Opens a cluster as the engine of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager

from grader.cluster.address import Address
from grader.grading.lanes import Engine
from grader.grading.plan import RunPlan
from grader.grading.work import Result, Work
from grader.model.errors import CourseError
from grader.model.messages import Setup
from grader.runner.pool import cores
from grader.sandbox.levels import Level


def cluster_opener(
    address: str, lanes: int | None, setup: Setup, note: Callable[[str], None]
) -> Callable[[RunPlan], AbstractContextManager[Engine]]:
    """What opens a cluster for the exercises of a plan. It is connected to when there is work.

    Args:
        address: of the cluster; see `Address`.
        lanes: how much is done at once, where the cluster is made here.
        setup: of the run.
        note: receives what people should know of the machines of the cluster.

    Raises:
        CourseError: there cannot be such a cluster, or it cannot be used.
    """
    where = Address.of(address)
    if lanes and not where.machines:
        raise CourseError("-j says nothing of a cluster: each of its workers has a lane for each of its threads")
    if setup.least is Level.NONE:
        raise CourseError(
            "--cluster needs walls: student code that reached the network could command the cluster; leave out "
            "--confinement none and --device cuda"
        )
    try:
        from grader.cluster.cluster import open_cluster
    except ImportError as error:
        raise CourseError(
            f"--cluster needs dask.distributed ({error}); install it with  pip install 'tensorgrade[cluster]'"
        ) from None

    @contextmanager
    def opened(plan: RunPlan) -> Iterator[Engine]:
        with ExitStack() as stack:
            yield _Later(lambda: stack.enter_context(open_cluster(where, plan, lanes or len(cores()), note)))

    return opened


class _Later:
    """An engine that is opened by its first work."""

    def __init__(self, opened: Callable[[], Engine]) -> None:
        self._opened = opened
        self._engine: Engine | None = None

    @property
    def slots(self) -> int:
        """How many works are graded at once at present."""
        return 1 if self._engine is None else self._engine.slots

    def submit(self, work: Work) -> Future[Result]:
        """Have one exercise graded."""
        if self._engine is None:
            self._engine = self._opened()
        return self._engine.submit(work)
