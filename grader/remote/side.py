"""One side that a check talks to, the student's or the reference's; and objects of its that stay with the worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from grader.model import Device, Limits, Picture, Speed, Verdict
from grader.model.endings import CannotJudge, WorkerLost
from grader.model.public import say
from grader.remote.ahead import Ahead
from grader.remote.around import heard
from grader.remote.asked import withhold
from grader.remote.asker import Asker, Leave
from grader.remote.backward import go_on
from grader.remote.errors import Errors
from grader.remote.folder import Folder
from grader.remote.handle import Handle, make_handle
from grader.remote.journal import Call, Journal
from grader.remote.lent import Lent, copied, tensors_of
from grader.remote.raised import does_not_load, graph_stays, raised_by_student
from grader.wire import requests
from grader.wire.exchange import Exchange
from grader.wire.handles import HandleRow, Origin, Remote, origin_of
from grader.wire.outgoing import Outgoing


@dataclass
class Counting:
    """What counting a call that does nothing takes in a worker.

    Attributes:
        life: in which of the sitting's workers.
        nothing_s: CPU seconds of one with a number.
        byte_s: CPU seconds more for each byte of a tensor; None where that was not measured.
    """

    life: int
    nothing_s: float
    byte_s: float | None = None


@dataclass
class Side(Asker):
    """One side that a check talks to: whose worker is asked, for what, and what was called.

    Attributes:
        originals: of the reference: the student's side, whose arguments it is given as they were before the call.
        reference: of the student's: the reference's side, if there is one.
        counting: of the reference: what counting a call takes in its worker, once that was measured.
        rewrite: makes each argument anew before student code is given it; None where it is given them as they are.
        copying: whether student code is given copies, so that nothing it does to them reaches the check.
        recording: whether calls are taken down, for the lines that reproduce them.
        calls: what the check called.
        printing: of functions that printed while calls were taken down, what they are called in messages.
        called: names of the functions that the check called.
        counters, speed: for the report, counts by name, and what was measured.
        cause, line: what ended the check, as one of `CAUSES`, or "", and in which line of the check file, or 0.
        picture: the facts of a picture of what ended it, or None.
        folder: of the check, if it has one: paths into it mean the same files in the worker.
        provisional: whether a verdict about speed that fails is taken again later, and decides nothing now.
    """

    originals: Side | None = None
    reference: Side | None = None
    counting: Counting | None = None
    rewrite: Callable[[Any], Any] | None = None
    copying: bool = False
    recording: bool = False
    calls: list[Call] = field(default_factory=list)
    printing: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    counters: dict[str, int] = field(default_factory=dict)
    speed: list[Speed] = field(default_factory=list)
    cause: str = ""
    line: int = 0
    picture: Picture | None = None
    provisional: bool = False
    folder: Folder | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._names: dict[str, str] | None = None
        self._probes: dict[str, str] = {}
        self._has_loaded = False
        self._unloadable: CannotJudge | None = None
        self._past = Journal()

    @property
    def device(self) -> Device:
        """What its workers see."""
        return self.sitting.device

    def begin_check(
        self, seed: int, limits: Limits | None = None, leave: Leave | None = None, *, recording: bool
    ) -> None:
        """A new check: its seed, nothing in common yet, nothing called. What is `around` it begins by itself.

        Args:
            seed: of the check.
            limits: for its calls, if not those from before.
            leave: see `Side`.
            recording: see `Side`.
        """
        self.settle()
        self.sitting.begin_check(limits)
        self.leave = leave or self.leave
        self.exchange.reset()
        self._lent = None if self.originals is None else Lent(self.originals.exchange)
        self.journal.begin_check()
        self.seed, self._seeded = seed, False
        self.recording, self.calls, self.counters, self.speed = recording, [], {}, []
        self.called, self.cause, self.line, self.picture, self.folder = set(), "", 0, None, None

    def fresh(self, function: Remote | None = None) -> Side:
        """The same side with a worker of its own, for timed calls. Close its sitting.

        An object that is to be called there is made again: by all that this worker was asked in this check.
        """
        fresh = Side(self.sitting.fresh(), self.seed, leave=self.leave)
        if function is not None and origin_of(function).name is None:
            fresh._past = self.journal.copy()
        return fresh

    def _new_exchange(self) -> Exchange:
        return Exchange(asks=True, make_handle=self.handle, owner=self, backward=partial(go_on, self))

    def handle(self, _: int, row: HandleRow) -> Handle:
        """What stands here for an object that stays with the worker."""
        return make_handle(self, row, self._word)

    def own_probe(self, name: str, args: tuple[Any, ...], what: str) -> Any:
        """Let a probe of ours run in the worker."""
        return self.call(Remote(Origin(self, ["named", "probe:", name], name)), args, {}, what)

    def names(self) -> dict[str, str]:
        """Public names of the student's module and their kinds; loads it if need be.

        Raises:
            CannotJudge: it does not load.
            WorkerLost: the worker was lost.
        """
        if self._unloadable is not None:
            raise self._unloadable
        if self.sitting.worker is None or self._names is None:
            self._load()
        assert self._names is not None
        return self._names

    def _load(self) -> None:
        self.sitting.close()
        self.exchange, self._names, self._probes, self._seeded = self._new_exchange(), None, {}, False
        self.errors, self.journal = Errors(), Journal()
        sitting = self.sitting
        what = f"{sitting.owner} {sitting.module}.py"
        out = Outgoing(self.exchange)
        files, data = out.value(dict(sitting.files)), out.value(dict(sitting.data))
        request = requests.Load(sitting.module, sitting.secret, sitting.device.value, files, data)
        try:
            names = self._ask(request, out, sitting.limits.load_s, what)
        except Exception as error:
            raised = raised_by_student(error)
            if raised is None:
                raise
            self._unloadable = does_not_load(sitting.module, raised, sitting.folder, before=self._has_loaded)
            self._unloadable.__dict__["_raised"] = raised  # whose file it is tells a fault of ours
            raise self._unloadable from None
        if not isinstance(names, dict) or not all(isinstance(part, str) for row in names.items() for part in row):
            gave = say("{} gave the grader something it cannot take", what)
            lost = WorkerLost(Verdict.CRASHED, gave, "no table of names")
            sitting.lose(lost, in_load=True)
            raise lost
        self._names, self._has_loaded = dict(names), True  # a copy: the worker could change its own later
        self._past.ask_again(sitting)

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], what: str) -> Any:
        """Call something that lives in the worker; a path into the check's folder means the same file there."""
        if self.folder is None:
            return self._call(function, args, kwargs, what)
        return self.folder.around(self, self._call, function, args, kwargs, what)

    def _call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], what: str) -> Any:
        self.ready()
        if self.rewrite is not None:
            args = tuple(arg if isinstance(arg, Remote) else self.rewrite(arg) for arg in args)
            kwargs = {name: self.rewrite(value) for name, value in kwargs.items()}
        if self.copying:
            withhold(*args, *kwargs.values())
        given, named = args, kwargs
        if self.originals is not None or self.copying:
            given, named = copied(args, kwargs, None if self.originals is None else self.originals.exchange)
            both = ([*args, *kwargs.values()], [*given, *named.values()])
            self.exchange.copied.update((copy, mine) for mine, copy in tensors_of(*both))
        try:
            result = self.send(function, given, named, what)
        except RuntimeError as error:
            graph_stays(error, args, kwargs)
            raise
        if self._lent is not None:
            probe = Remote(Origin(self, ["named", "probe:", "keeps"], "keeps"))
            self._lent.note(both, function, result, what, lambda *asked: self.send(probe, asked, {}, what))
        return result

    def send(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], what: str) -> Any:
        """Ask for a call with these very arguments, and what is around it in the check."""
        return self._listening(self._send, function, args, kwargs, what)

    def _send(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], what: str) -> Any:
        out = self._message()
        request = requests.Call(
            out.value(function),
            [out.value(arg) for arg in args],
            {name: out.value(value) for name, value in kwargs.items()},
        )
        before = self.sitting.printed() if self.recording else 0
        result = self._ask(request, out, self.sitting.limits.call_s, what)
        if self.recording and self.sitting.printed() > before:
            self.printing.add(what)
        return result

    def _listening(self, ask: Callable[..., Any], *asked: Any) -> Any:
        """Ask, with what is around it in the check; what is printed and warned of is heard, if the check listens.

        Raises:
            Unsupported: there is something around it that would not reach student code.
        """
        self.around.refuse()
        if not self.around.is_heard():
            return ask(*asked)
        with heard(self):
            return ask(*asked)

    def goes_ahead(self) -> bool:
        """Whether calls can be made ahead of the check: where arguments go as they are, and nobody listens."""
        alone = self.originals is not None or self.copying or self.rewrite is not None or self.folder is not None
        return not alone and not self.around.is_heard()

    def ask_ahead(self, function: Any, cases: Sequence[tuple[Any, ...]], what: str) -> Ahead:
        """Ask for calls of a function, one after the other, with one message; their answers are read one by one."""
        self.around.refuse()
        out = self._message()
        request = requests.CallEach(out.value(function), [[out.value(arg) for arg in case] for case in cases])
        asked, data = self._asked(request, out, what)
        seconds = self.sitting.limits.call_s
        ahead = Ahead(self, out, len(cases), seconds, what)
        with self.not_counted():
            self.sitting.tell(asked, data, seconds, what)
        self._ahead = ahead
        return ahead

    def get(self, obj: Any, name: str, what: str) -> Any:
        """Read an attribute of something that lives in the worker."""
        return self._listening(self._get, obj, name, what)

    def _get(self, obj: Any, name: str, what: str) -> Any:
        out = self._message()
        return self._ask(requests.Get(out.value(obj), name), out, self.sitting.limits.call_s, what)

    def load_probe(self, name: str, source: str) -> str:
        """Send a probe's source, once for each worker, and again where another file of that name was there last.

        Gives the space in which its functions have their names.
        """
        self.ready()
        if self._probes.get(name) != source:
            out = self._message()
            request = requests.LoadProbe(name, out.value(source))
            self._ask(request, out, self.sitting.limits.load_s, f"the probe {name}")
            self._probes[name] = source
        return f"probe:{name}"
