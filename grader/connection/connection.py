"""A connection to student code: one exercise of one author, or of the reference. Requests go out, replies come in.

A request is a message (`wire.encode`) that says what to do; each has one reply: the value, or what student code raised.
Its worker is started when it is needed and replaced when it is lost.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from grader.connection.process import Starter, WorkerProcess
from grader.connection.proxy import Place, Proxy, is_proxy, place_of, what_of, word_of
from grader.connection.raised import Raised, does_not_load, exception_of, lines_of, raised_by_student
from grader.connection.record import Call, Record, waiting
from grader.model import Device, Limits, Verdict
from grader.model.endings import CannotJudge, WorkerLost
from grader.model.public import say
from grader.wire.bounds import ProtocolError, Unsupported, expect, is_index
from grader.wire.decode import Decoder, copies
from grader.wire.encode import Encoder
from grader.wire.frames import Frame
from grader.wire.memory import Table, padded

# One loss may be chance, such as a crash by a race. A function that is lost twice would be lost in every later check,
# each time for a new worker; four losses of any kind are enough. A timeout is no chance, as CPU time decides it.
_LOSSES_OF_ONE = 2
_LOSSES_OF_ALL = 4
_MOST_REASON = 300
_LONGEST_NAME = 100


@dataclass
class Request:
    """What is asked: what both processes know by number, the words for messages, and CPU seconds that it may take."""

    table: Table
    what: str
    word: str
    seconds: float


class Connection:
    """A connection to the worker of one exercise of one author, or of the reference. Close it.

    A function that cost two workers, or timed out once, is not called again: checks that call it get that verdict.
    After two lost loads, one timeout of a load, or four lost workers in all, the remaining checks get that verdict, and
    no worker is started.

    Args:
        starter: starts workers.
        module: name of the exercise module.
        files: the submission's files by relative name.
        limits: of the exercise.
        owner: in messages: "your" or "the reference's".
        secret: whether the files must not stay on disk while the worker lives.
        device: which accelerator its code sees.
        data: files that lie beside them, by relative name.

    Attributes:
        record: what the check that runs now does here.
        student: of the reference: the student's connection, whose arguments it gets as they were before the call.
        reference: of the student's: the reference's connection, if there is one.
        folder: where the files lie, as the student types it; "" if that is unknown.
        lives: how many workers it has had.
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
        self._starter = starter
        self.module, self.files, self.limits, self.owner = module, dict(files), limits, owner
        self.secret, self.device, self.data = secret, device, data or {}
        self.record = Record()
        self.student: Connection | None = None
        self.reference: Connection | None = None
        self.folder = ""
        self.lives = 0
        self.worker: WorkerProcess | None = None
        self._usual_s = limits.call_s
        self._seeded = False
        self._names: dict[str, str] | None = None
        self._has_loaded = False
        self._unloadable: CannotJudge | None = None
        self._probes: dict[str, str] = {}
        self._proxies: weakref.WeakValueDictionary[int, Proxy] = weakref.WeakValueDictionary()
        self._dropped: list[int] = []
        self._losses: Counter[str] = Counter()
        self._given_up: dict[str, WorkerLost] = {}
        self._final: WorkerLost | None = None
        self._outputs: dict[int, str] = {}

    def fresh(self) -> Connection:
        """The same files, for a worker of its own. Close it."""
        # Losses are counted anew: a timed call that is stopped on purpose must not use up what the checks may lose.
        own = self._starter, self.module, self.files, self.limits, self.owner
        new = Connection(*own, secret=self.secret, device=self.device, data=self.data)
        new.record.seed, new.record.inputs, new.folder = self.record.seed, self.record.inputs, self.folder
        return new

    def begin_check(self, record: Record, limits: Limits | None = None) -> None:
        """Begin a check: nothing of the one before is known any more.

        Args:
            record: of the check.
            limits: of its calls, if they differ.
        """
        self.record, self._seeded = record, False
        self.limits = limits or self.limits

    def names(self) -> dict[str, str]:
        """Public names of the module and their kinds; loads the module if needed.

        Raises:
            CannotJudge: it does not load.
            WorkerLost: the worker was lost.
        """
        if self._unloadable is not None:
            raise self._unloadable
        if self.worker is None or self._names is None:
            self._names = None
            with waiting(student=not self.secret):
                self._names = self._load()
        return self._names

    def _load(self) -> dict[str, str]:
        self._probes, self._seeded, self._dropped = {}, False, []
        what = f"{self.owner} {self.module}.py"
        files, data = (
            {name: np.frombuffer(text, np.uint8) for name, text in each.items()} for each in (self.files, self.data)
        )
        more = {"module": self.module, "secret": self.secret, "device": self.device.value}
        try:
            names = self._ask("load", [files, data], Request(Table(), what, "", self.limits.load_s), **more)
        except Exception as error:
            raised = raised_by_student(error)
            if raised is None:
                raise
            self._unloadable = does_not_load(self.module, raised, self.folder, before=self._has_loaded)
            self._unloadable.__dict__["_raised"] = raised  # whose file it is distinguishes a fault of ours
            raise self._unloadable from None
        if not isinstance(names, dict) or not all(isinstance(part, str) for row in names.items() for part in row):
            raise self.lose_for_fault(what, "no table of names")
        self._has_loaded = True
        return names

    def load_probe(self, name: str, source: str) -> str:
        """Send a probe file to the worker, once, and again if it changed. Gives the space of its functions' names."""
        self.names()
        if self._probes.get(name) != source:
            self._ask("probe", [source], Request(Table(), f"the probe {name}", "", self.limits.load_s), name=name)
            self._probes[name] = source
        return f"probe:{name}"

    # -- requests and replies -----------------------------------------------------------------------------------------

    def call(self, target: Proxy, args: tuple[Any, ...], kwargs: dict[str, Any], called: Proxy | None = None) -> Any:
        """Call an object in the worker; what it changes of its arguments is changed here.

        Args:
            target: the object.
            args: the arguments.
            kwargs: those by name.
            called: of a probe: the function that it calls, which messages name; its caller has noted the call.
        """
        if called is None:
            self.note_call(called := target, args, kwargs)
        if self.student is not None or self.record.copying or self.record.rewrite is not None:
            args, kwargs = self.prepared(args, kwargs)
        return self.ask("call", [target, kwargs or None, *args], what_of(called), word_of(called))

    def note_call(self, target: Proxy, args: tuple[Any, ...], kwargs: Mapping[str, Any], ranks: int = 1) -> None:
        """Note a call of the check's; keep its arguments if calls are recorded."""
        place = place_of(target)
        self.record.called.add(place.word)
        if self.record.recording and place.child[:2] == ("name", "student"):
            # Copies, as the function may change its arguments before somebody reads of the call.
            try:
                values = copies(*args, *kwargs.values())
            except Unsupported:
                values = (*args, *kwargs.values())
            named_values = dict(zip(kwargs, values[len(args) :], strict=True))
            self.record.calls.append(Call(place.word, values[: len(args)], named_values, ranks))

    def prepared(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as they are sent: the reference, and student code that may not change them, get copies."""
        if self.record.rewrite is not None:
            values = iter(self.record.rewrite(*(arg for arg in args if not is_proxy(arg)), *kwargs.values()))
            args = tuple(arg if is_proxy(arg) else next(values) for arg in args)
            kwargs = dict(zip(kwargs, values, strict=True))
        if self.student is None and not self.record.copying:
            return args, kwargs
        if self.record.copying:
            self.record.withheld += args, kwargs
        original = self.record if self.student is None else self.student.record
        with original.arguments_as_they_were():
            copied = copies(*args, *kwargs.values())
        return copied[: len(args)], dict(zip(kwargs, copied[len(args) :], strict=True))

    def ask(self, operation: str, values: Sequence[Any], what: str, word: str = "") -> Any:
        """Send a request, and wait for its reply.

        Args:
            operation: what to do: call, get, set, item, len or iter.
            values: the object, and what the operation takes besides.
            what: the request in messages.
            word: what messages call an object that comes of it.

        Returns:
            The value of the reply.

        Raises:
            WorkerLost: there was no reply.
            CannotJudge: the module does not load, or the result cannot be sent.
            Exception: what student code raised, as its nearest builtin type.
        """
        if self.worker is None or self._names is None:
            self.names()
        if self.record.inputs is not None:
            self.record.inputs.renew()
        with waiting(student=not self.secret):
            return self._ask(operation, values, Request(Table(), what, word, self.limits.call_s))

    def _ask(self, operation: str, values: Sequence[Any], request: Request, **more: Any) -> Any:
        """Send a request, and give the value of its reply, or raise what student code raised."""
        if request.what in self._given_up:
            self.refuse(request.what)
        tree, blocks = Encoder(request.table, self._child_of).encode(values)
        tree["do"] = operation
        tree.update(more)
        return self.value_of(self.exchange(tree, padded(blocks), request), request)

    def exchange(
        self, tree: dict[str, Any], data: list[Any], request: Request, mapped: tuple[int, int] | None = None
    ) -> Frame:
        """Send a message that is encoded already, and wait for its reply; `mapped` as in `WorkerProcess.ask`."""
        worker = self.worker or self.live_worker()
        if not self._seeded:
            tree["seed"], self._seeded = self.record.seed, True
        if self._dropped:
            dropped, self._dropped = self._dropped, []
            tree["dropped"] = [number for number in dropped if number not in self._proxies]
        worker.channel.budget = self.record.budget
        before = worker.printed() if self.record.recording else 0
        try:
            frame = worker.ask(tree, data, request.seconds, request.what, mapped)
        except WorkerLost as lost:
            raise self._note_loss(lost, request) from None
        if self.record.recording and worker.printed() > before:
            self.record.printing.add(request.what)
        return frame

    def value_of(self, frame: Frame, request: Request) -> Any:
        """The value of a reply; arguments that student code changed are changed here."""
        tree, caps = frame.tree, self.worker.channel.caps if self.worker else None
        if "unsupported" in tree:
            text = say("{} returned something that cannot be graded", request.what)
            raise CannotJudge(text, f"{text}\n{str(tree['unsupported'])[:_MOST_REASON]}")
        try:
            # Arguments first: what student code did to them before it raised counts, too.
            decoder = Decoder(request.table, partial(self._proxy, request.word), caps)
            values = decoder.decode(tree, frame.data)
            self.record.changes += decoder.changes
            raised = Raised.read(tree["error"], request.what, self.owner) if tree.get("error") is not None else None
            if raised is None and len(values) != 1:
                raise ProtocolError("a reply has one value")
        except ProtocolError as fault:
            raise self.lose_for_fault(request.what, fault) from None
        if raised is not None:
            raise exception_of(raised)
        return values[0]

    def _child_of(self, value: Any) -> list[Any]:
        """A proxy as a child of a message.

        Raises:
            Unsupported: it is of another worker, or no value at all.
        """
        if not is_proxy(value):
            raise Unsupported(
                f"a check cannot send an object of type {type(value).__name__} to student code: write a probe, a "
                "function that runs beside student code, and make it there"
            )
        place = place_of(value)
        if place.connection is not self:
            raise Unsupported(f"`{place.word}` belongs to another process: a call takes objects of its own side only")
        if place.life and place.life != self.lives:
            raise RuntimeError(f"`{place.word}` is gone: its worker has ended")
        return list(place.child)

    def _proxy(self, word: str, *child: Any) -> Proxy:
        """What stands for an object that the worker names in a reply."""
        expect(len(child) == 3 and child[0] == "proxy", "an invalid proxy")
        _, number, kind = child
        expect(is_index(number, 1 << 53) and type(kind) is str and len(kind) <= _LONGEST_NAME, "an invalid proxy")
        proxy = self._proxies.get(number)
        if proxy is None:
            proxy = self._proxies[number] = Proxy(Place(self, ("proxy", number), word, kind or "object", self.lives))
        return proxy

    def drop(self, number: int, life: int) -> None:
        """Nothing here stands for an object any more: the worker forgets it with the next request."""
        if life == self.lives:
            self._dropped.append(number)

    # -- the worker, and its loss -------------------------------------------------------------------------------------

    def live_worker(self) -> WorkerProcess:
        """The worker, or a new one with nothing loaded.

        Raises:
            WorkerLost: there will be no other.
        """
        # Noted each time: the verdict is read from the record, whatever the check did with the exception.
        if self._final is not None:
            self.record.lost = self._final
            raise self._final
        if self.worker is None:
            try:
                # The reference's worker serves many authors: it is spared when the exercise of one takes too long.
                simulates = self.device is Device.SIM
                self.worker = self._starter.start_worker(self.limits, spared=self.secret, simulates=simulates)
            except WorkerLost as lost:
                self._lose(lost, "")
                raise
            self.lives += 1
            if not self.secret:
                self._starter.students.add(self.worker)
        return self.worker

    def refuse(self, what: str) -> None:
        """End the check if it calls a function that is not called again.

        Raises:
            WorkerLost: it is one.
        """
        lost = self._given_up.get(what)
        if lost is not None:
            if lost.verdict is Verdict.TIMED_OUT:
                lost = WorkerLost(lost.verdict, say("{}; it is not called again", lost.public))
            self.record.lost = lost
            raise lost

    def _note_loss(self, lost: WorkerLost, request: Request) -> WorkerLost:
        """Note the loss of the worker by a request."""
        self._lose(lost, request.what)
        # A check may allow less time than the others do; then a timeout says nothing about them.
        if lost.verdict is Verdict.TIMED_OUT and not lost.in_load and request.seconds >= self._usual_s:
            self._given_up[request.what] = lost
        return lost

    def _lose(self, lost: WorkerLost, what: str) -> None:
        """Note a loss, and end the worker; `what` is "" if none was started."""
        try:
            lost.frames = lines_of(lost.stack)
        except ProtocolError:
            lost.frames = ()
        self.record.lost, lost.in_load = lost, self._names is None and what != ""
        self._losses[what] += 1
        if self._losses[what] >= _LOSSES_OF_ONE:
            self._given_up[what] = lost
        # Each check loads anew after a loss. A load that timed out would do so for every one of them.
        hopeless = lost.in_load and (lost.verdict is Verdict.TIMED_OUT or what in self._given_up)
        if hopeless or self._losses.total() >= _LOSSES_OF_ALL:
            self._final = lost
        self.outputs()  # closing removes the worker's output; what it printed so far is read first
        self.close()

    def lose_for_fault(self, what: str, fault: object) -> WorkerLost:
        """The loss of a worker that broke the protocol."""
        lost = WorkerLost(Verdict.CRASHED, say("{} gave the grader something that it cannot take", what), fault)
        self._lose(lost, what)
        return lost

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Meanwhile no other worker with a submission runs."""
        others = [worker for worker in self._starter.students if worker is not self.worker]
        try:
            for worker in others:
                worker.stop()
            yield
        finally:
            for worker in others:
                worker.go_on()

    def outputs(self) -> dict[int, str]:
        """The beginning of what each worker printed so far."""
        if self.worker is not None:
            # One byte more than is shown, so that a reader can tell that something was cut off.
            self._outputs[self.lives] = self.worker.read_output(self.limits.shown_output_kb * 1024 + 1)
        return dict(self._outputs)

    def is_worn(self) -> bool:
        """Whether the worker has used half of the CPU time that it may use in its life."""
        return self.worker is not None and (self.worker.cpu_s() or 0.0) > self.limits.exercise_s / 2

    def close(self) -> None:
        """End the worker."""
        if self.worker is not None:
            self._starter.students.discard(self.worker)
            self.worker.close()
            self.worker = None
