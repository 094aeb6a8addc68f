"""A sitting: one exercise of one author, with its worker, which is renewed when it is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from grader.model import Device, Limits, Verdict
from grader.model.endings import WorkerLost
from grader.model.public import say
from grader.remote.worker import Starter, Worker
from grader.wire.frames import Frame
from grader.wire.requests import Asked, Load

# One loss may be chance, such as a crash by a race. A function that is lost twice would be lost in every later check,
# each time for a new worker; four losses of whatever kind are enough of that. Its time runs out by no chance, as it is
# CPU time, and a student waits for all of it.
_LOSSES_OF_ONE = 2
_LOSSES_OF_ALL = 4


class Sitting:
    """One exercise of one author: its worker, renewed when lost, and what the rest of its checks get. Close it.

    A function that cost two workers, or ran out of its time once, is not called again: the checks that call it get
    that verdict. After two lost loads, one load time-out, or four lost workers in all, the remaining checks get it, and
    no worker is started.

    Args:
        starter: starts workers.
        module: name of the exercise module.
        files: the submission's files by relative name.
        limits: of the exercise.
        owner: for messages: "your" or "the reference's".
        secret: whether the files must not stay on disk while the worker lives.
        device: what its code sees.
        data: what lies beside the files for its code to read, by relative name.

    Attributes:
        folder: where the files lie, as the student types it; "" where nobody does.
    """

    def __init__(
        self,
        starter: Starter,
        module: str,
        files: Mapping[str, bytes],
        limits: Limits,
        owner: str = "your",
        *,
        secret: bool = False,
        device: Device = Device.NONE,
        data: Mapping[str, bytes] | None = None,
    ) -> None:
        self.module = module
        self.owner = owner
        self.secret = secret
        self.device = device
        self.data = data or {}
        self.limits = limits
        self.lost: WorkerLost | None = None
        self.worker: Worker | None = None
        self.lives = 0
        self.folder = ""
        self._usual_s = limits.call_s
        self._files = dict(files)
        self._starter = starter
        self._losses: Counter[str] = Counter()
        self._given_up: dict[str, WorkerLost] = {}
        self._final: WorkerLost | None = None
        self._outputs: dict[int, str] = {}

    def begin_check(self, limits: Limits | None = None) -> None:
        """Forget what was recorded for the check before; take its limits, if they are its own."""
        self.lost = None
        self.limits = limits or self.limits

    def live_worker(self) -> Worker:
        """The worker, or a new one with nothing loaded.

        Raises:
            WorkerLost: there will be no other.
        """
        # Noted each time: a verdict is read from here, whatever the check did with the exception.
        if self._final is not None:
            self.lost = self._final
            raise self._final
        if self.worker is None:
            try:
                # The reference's worker serves many submissions. It is spared when one author's exercise takes too
                # long.
                simulates = self.device is Device.SIM
                self.worker = self._starter.start_worker(self.limits, spared=self.secret, simulates=simulates)
            except WorkerLost as lost:
                self.lose(lost)
                raise
            self.lives += 1
            if not self.secret:
                self._starter.students.add(self.worker)
        return self.worker

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Meanwhile no other worker runs in which a submission is: none works ahead, and none disturbs this one."""
        others = [worker for worker in self._starter.students if worker is not self.worker]
        try:
            for worker in others:
                worker.stop()
            yield
        finally:
            for worker in others:
                worker.go_on()

    def fresh(self) -> Sitting:
        """The same files, for a worker of its own. Close it."""
        # Losses are counted anew: a timed call that is stopped on purpose must not use up what the checks may lose.
        own = (self._starter, self.module, self._files, self.limits, self.owner)
        return Sitting(*own, secret=self.secret, device=self.device, data=self.data)

    def refuse(self, what: str) -> None:
        """End the check if it calls a function that is not called again; its loss is noted as that of the check.

        Raises:
            WorkerLost: it is one.
        """
        if what in self._given_up:
            self.lost = _not_again(self._given_up[what])
            raise self.lost

    def ask(
        self,
        asked: Asked,
        data: list[bytes],
        seconds: float,
        what: str,
        shared: tuple[int, int] | None = None,
    ) -> Frame:
        """Ask the worker; its loss is recorded. The arguments are those of `Worker.ask`.

        Raises:
            WorkerLost: there was no reply.
        """
        self.refuse(what)
        worker = self.live_worker()
        with self._losing(what, seconds, in_load=isinstance(asked.request, Load)):
            return worker.ask(asked, data, seconds, what, shared)

    def tell(self, asked: Asked, data: list[bytes], seconds: float, what: str) -> None:
        """Ask for what has several replies, which are read with `more`. The arguments and errors are those of `ask`."""
        self.refuse(what)
        worker = self.live_worker()
        with self._losing(what, seconds):
            worker.send(asked, data, what, worker.patience(seconds, what))

    def more(self, seconds: float, what: str) -> Frame:
        """The next reply to the last request. The arguments and errors are those of `ask`."""
        assert self.worker is not None
        with self._losing(what, seconds):
            return self.worker.more(seconds, what)

    @contextmanager
    def _losing(self, what: str, seconds: float, *, in_load: bool = False) -> Iterator[None]:
        """Record the loss of the worker, if it is one."""
        try:
            yield
        except WorkerLost as lost:
            self.lose(lost, what, in_load=in_load)
            # A check may give less time than the others do; then it says nothing of them.
            if lost.verdict is Verdict.TIMED_OUT and not in_load and seconds >= self._usual_s:
                self._given_up[what] = lost
            raise

    def lose(self, lost: WorkerLost, what: str = "", *, in_load: bool = False) -> None:
        """Record a loss and end the worker.

        Args:
            lost: the loss.
            what: what was called.
            in_load: whether it was the submission's loading.
        """
        self.lost = lost
        lost.in_load = in_load
        self._losses[what] += 1
        if self._losses[what] >= _LOSSES_OF_ONE:
            self._given_up[what] = lost
        # Each check loads anew after a loss. A load that ran out of its time would do so for every one of them.
        hopeless = in_load and (lost.verdict is Verdict.TIMED_OUT or what in self._given_up)
        if hopeless or self._losses.total() >= _LOSSES_OF_ALL:
            self._final = lost
        # Closing removes the worker's output; what it printed so far is read first.
        self.outputs()
        self.close()

    def printed(self) -> int:
        """Bytes that the worker printed so far."""
        return 0 if self.worker is None else self.worker.printed()

    def outputs(self) -> dict[int, str]:
        """The beginning of what each worker printed so far."""
        if self.worker is not None:
            # One byte more than is shown, so that a reader can tell that something was cut off.
            self._outputs[self.lives] = self.worker.read_output(self.limits.shown_output_kb * 1024 + 1)
        return dict(self._outputs)

    @property
    def files(self) -> Mapping[str, bytes]:
        """The submission's files by relative name."""
        return self._files

    def is_worn(self) -> bool:
        """Whether the worker has used half of the CPU time that it may use in its life."""
        return self.worker is not None and (self.worker.cpu_s() or 0.0) > self.limits.exercise_s / 2

    def close(self) -> None:
        """End the worker."""
        if self.worker is not None:
            self._starter.students.discard(self.worker)
            self.worker.close()
            self.worker = None


def _not_again(lost: WorkerLost) -> WorkerLost:
    """The loss of a function that is not called again."""
    if lost.verdict is not Verdict.TIMED_OUT:
        return lost
    return WorkerLost(lost.verdict, say("{}; it is not called again", lost.public))
