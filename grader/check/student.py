"""`student.total(x)` looks local and runs in a worker. Only the student's names live on `student`."""

from __future__ import annotations

import builtins
import difflib
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from grader.check.workers import Sitting, WorkerLost
from grader.model import Verdict
from grader.wire.exchange import Exchange, HandleClaims, Remote
from grader.wire.frames import Frame, ProtocolFault, Unsupported
from grader.wire.incoming import Incoming, copies
from grader.wire.outgoing import Outgoing

_NO_MEMORY = re.compile(r"can't allocate memory|not enough memory|Unable to allocate|out of memory", re.IGNORECASE)


class CannotJudge(Exception):
    """A check cannot be judged; its verdict is `skipped`."""


@dataclass(frozen=True)
class Raised:
    """What student code raised, as the worker claims it.

    Attributes:
        type: class name.
        text: its message.
        frames: file, line, function and source text, outermost first, of the submission's own files.
        what: what was called, such as "your `total`".
        owner: whose code it was: "your" or "the reference's".
        builtin: name of the nearest builtin type.
        signature: of a function that refused its arguments, or None.
    """

    type: str
    text: str
    frames: tuple[tuple[str, int, str, str], ...]
    what: str
    owner: str
    builtin: str
    signature: str | None = None


def raised_by_student(error: BaseException) -> Raised | None:
    """What student code raised, or None if the exception is not from student code."""
    raised = error.__dict__.get("_raised")
    return raised if isinstance(raised, Raised) else None


@dataclass
class Call:
    """One call that a check made, for the lines that reproduce it."""

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


@dataclass
class Party:
    """One side that a check talks to: a sitting, what it has in common with its worker, and what was called."""

    sitting: Sitting
    seed: int = 0
    originals: Party | None = None
    recording: bool = False
    calls: list[Call] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)
    speed: list[dict[str, Any]] = field(default_factory=list)
    outside: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        self.exchange = self._new_exchange()
        self._names: dict[str, str] | None = None
        self._probes: set[str] = set()
        self._seeded = False
        self._unloadable: CannotJudge | None = None

    def begin_check(self, seed: int, *, recording: bool) -> None:
        """A new check: its seed, nothing in common yet, nothing called."""
        self.sitting.begin_check()
        self.exchange.reset()
        self.seed, self._seeded = seed, False
        self.recording, self.calls, self.counters, self.speed = recording, [], {}, []

    def fresh(self) -> Party:
        """The same side with a worker of its own, for timed calls. Close its sitting."""
        return Party(self.sitting.fresh(), self.seed, outside=self.outside)

    def _new_exchange(self) -> Exchange:
        return Exchange(asks=True, make_handle=lambda number, claims: RemoteObject(self, number, claims))

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
        self.exchange, self._names, self._probes, self._seeded = self._new_exchange(), None, set(), False
        sitting = self.sitting
        tree = {"do": "load", "module": sitting.module, "secret": sitting.secret, "device": sitting.device}
        what = f"{sitting.owner} {sitting.module}.py"
        try:
            names = self._request(tree, {"files": dict(sitting.files)}, sitting.limits.load_s, what)
        except Exception as error:
            raised = raised_by_student(error)
            if raised is None:
                raise
            self._unloadable = CannotJudge(load_message(sitting.module, raised))
            self._unloadable.__dict__["_raised"] = raised
            raise self._unloadable from None
        if not isinstance(names, dict) or not all(isinstance(part, str) for row in names.items() for part in row):
            lost = WorkerLost(Verdict.CRASHED, f"{what} gave the grader something it cannot take (no table of names)")
            sitting.lose(lost, in_load=True)
            raise lost
        self._names = names

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], what: str) -> Any:
        """Call something that lives in the worker."""
        self.names()
        if self.originals is not None:
            own = [None if isinstance(arg, Remote) else arg for arg in args]  # a probe's function stays what it is
            copied = copies(*own, *kwargs.values(), originals=self.originals.exchange)
            args = tuple(arg if isinstance(arg, Remote) else copied[i] for i, arg in enumerate(args))
            kwargs = dict(zip(kwargs, copied[len(args) :], strict=True))
        values = {"function": function, "args": list(args), "kwargs": kwargs}
        return self._request({"do": "call"}, values, self.sitting.limits.call_s, what)

    def get(self, obj: Any, name: str, what: str) -> Any:
        """Read an attribute of something that lives in the worker."""
        self.names()
        return self._request({"do": "get", "name": name}, {"object": obj}, self.sitting.limits.call_s, what)

    def load_probe(self, name: str, source: str) -> None:
        """Send a probe's source, once for each worker."""
        self.names()
        if name not in self._probes:
            limit = self.sitting.limits.load_s
            self._request({"do": "probe", "module": name}, {"source": source}, limit, f"the probe {name}")
            self._probes.add(name)

    def _request(self, tree: dict[str, Any], values: dict[str, Any], seconds: float, what: str) -> Any:
        out = Outgoing(self.exchange)
        for key, value in values.items():
            if key == "args":
                tree[key] = [out.value(item) for item in value]
            elif key == "kwargs":
                tree[key] = {name: out.value(item) for name, item in value.items()}
            else:
                tree[key] = out.value(value)
        tree["objects"], data = out.finish()
        if not self._seeded:
            tree["seed"], self._seeded = _workers_seed(self.seed), True
        with self.not_counted():
            frame = self.sitting.ask(tree, data, seconds, what)
        try:
            return self.read(frame, what)
        except ProtocolFault as fault:
            lost = WorkerLost(Verdict.CRASHED, f"{what} gave the grader something it cannot take ({fault})")
            self.sitting.lose(lost)
            raise lost from None
        finally:
            self.exchange.end_call()

    @contextmanager
    def not_counted(self) -> Iterator[None]:
        """Time that a worker takes is not counted as the check's own."""
        resume = self.outside() if self.outside else None
        try:
            yield
        finally:
            if resume:
                resume()

    def read(self, frame: Frame, what: str, exchange: Exchange | None = None) -> Any:
        """The value of a reply, or the exception that student code raised.

        Args:
            frame: the reply.
            what: what was called, for messages.
            exchange: a table of its own for a timed call.

        Raises:
            ProtocolFault: it is no reply.
            CannotJudge: the value cannot be handed over.
        """
        tree = frame.tree
        incoming = Incoming(exchange or self.exchange, tree.get("objects"), frame.data)
        if "raised" in tree:
            raise _exception(_read_raised(tree["raised"], what, self.sitting.owner))
        if "unsupported" in tree:
            raise CannotJudge(f"{what} returned something that cannot be graded\n{str(tree['unsupported'])[:300]}")
        if "result" not in tree:
            raise ProtocolFault("a reply without a result")
        return incoming.value(tree["result"])


def _workers_seed(seed: int) -> int:
    """What a worker is seeded with: from it nobody can tell what the check draws from its own."""
    return int.from_bytes(hashlib.sha256(f"worker/{seed}".encode()).digest()[:6], "big")


def _read_raised(told: Any, what: str, owner: str) -> Raised:
    if not isinstance(told, dict) or not isinstance(told.get("frames"), list) or len(told["frames"]) > 50:
        raise ProtocolFault("an exception is described wrongly")
    frames = []
    for row in told["frames"]:
        match row:
            case [str(file), int(line), str(function), str(text)]:
                frames.append((file[:300], line, function[:300], text[:2100]))
            case _:
                raise ProtocolFault("an exception is described wrongly")
    signature = told.get("signature")
    kind, text = (str(told.get(key, ""))[:2100] for key in ("type", "text"))
    builtin = getattr(builtins, str(told.get("builtin")), None)
    if not isinstance(builtin, type) or not issubclass(builtin, BaseException):
        raise ProtocolFault("an exception is described wrongly")
    signature = signature[:300] if isinstance(signature, str) else None
    return Raised(kind, text, tuple(frames), what, owner, builtin.__name__, signature)


def _exception(raised: Raised) -> BaseException:
    """The exception as its plain builtin type, marked as coming from student code."""
    if (raised.type == "BlockingIOError" and "[Errno 11]" in raised.text) or "can't start new thread" in raised.text:
        return WorkerLost(
            Verdict.OVER_LIMIT, f"{raised.what} started more processes or threads than the exercise allows"
        )
    if raised.type == "MemoryError" or (raised.type == "RuntimeError" and _NO_MEMORY.search(raised.text)):
        return WorkerLost(Verdict.OVER_LIMIT, f"{raised.what} asked for more memory than the exercise allows")
    kind: type[BaseException] = getattr(builtins, raised.builtin)
    if not issubclass(kind, Exception):  # SystemExit and its kin must not end a check
        kind = RuntimeError
    try:
        error = kind(raised.text)
    except TypeError:  # such as UnicodeDecodeError, which wants five arguments
        kind = next(base for base in kind.__mro__ if base in (ValueError, OSError, Exception))
        error = kind(raised.text)
    error.__dict__["_raised"] = raised
    return error


def load_message(module: str, raised: Raised) -> str:
    """Why a submission does not load, for its author."""
    head = f"your {module}.py does not load: {raised.type}: {raised.text}"
    return "\n".join([head, *frame_lines(raised)])


def frame_lines(raised: Raised) -> list[str]:
    """Where student code raised: the innermost lines of its own files."""
    lines = []
    places = {(file, line): (function, text) for file, line, function, text in raised.frames}
    for (file, line), (function, text) in list(places.items())[-3:]:
        place = f"    {file}, line {line}" + (f", in {function}" if function and function != "<module>" else "")
        lines.append(place)
        if text.strip():
            lines.append(f"        {text.strip()}")
    return lines


class RemoteFunction(Remote):
    """A function or class of the student's, by name."""

    def __init__(self, party: Party, name: str, space: str = "student") -> None:
        self.wire_name = ["named", space, name]
        self._party = party
        self._space = space
        self._name = name
        self.what = f"{party.sitting.owner} `{name}`" if space == "student" else f"the probe `{name}`"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it in the worker. A probe around a student's function is told, and noted, as that function."""
        called = args[0] if args and isinstance(args[0], RemoteFunction) else self
        if self._party.recording and called._space == "student":
            called.note(args[1:] if called is not self else args, kwargs)
        return self._party.call(self, args, kwargs, called.what)

    @property
    def party(self) -> Party:
        """The side whose function it is."""
        return self._party

    def note(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Take a call down, for the lines that reproduce it."""
        kept = dict(zip(kwargs, _kept(tuple(kwargs.values())), strict=True))
        self._party.calls.append(Call(self._name, _kept(args), kept))

    def __repr__(self) -> str:
        """Its name."""
        return self._name


class RemoteObject(Remote):
    """An object that stays with the worker: it can be called, its attributes read, its type named; nothing else."""

    def __init__(self, party: Party, number: int, claims: HandleClaims) -> None:
        self.wire_name = ["known", number]
        self._party = party
        self._claims = claims

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it in the worker."""
        return self._party.call(self, args, kwargs, f"{self._party.sitting.owner} `{self._claims.type}` object")

    def __getattr__(self, name: str) -> Any:
        """Read an attribute in the worker."""
        if name.startswith("__"):
            raise AttributeError(name)
        return self._party.get(self, name, f"{self._party.sitting.owner} `{self._claims.type}.{name}`")

    def __repr__(self) -> str:
        """What it is, as far as the worker says."""
        return f"<{self._claims.text or 'an object of type ' + self._claims.type}>"


class Student:
    """The student's module as a check sees it."""

    __slots__ = ("_Student__party",)

    def __init__(self, party: Party) -> None:
        object.__setattr__(self, "_Student__party", party)

    def __getattr__(self, name: str) -> Any:
        """A function or class of the student's, or a copy of a value.

        Raises:
            CannotJudge: there is no such name.
        """
        party: Party = object.__getattribute__(self, "_Student__party")
        kind = party.names().get(name)
        if kind is None:
            raise CannotJudge(_missing(party, name))
        if kind == "callable":
            return RemoteFunction(party, name)
        return party.get(RemoteFunction(party, ""), name, f"{party.sitting.owner} `{name}`")

    def __repr__(self) -> str:
        """As in plain Python."""
        return "student"


def party_of(student: Student) -> Party:
    """The party behind `student` or `reference`."""
    party: Party = object.__getattribute__(student, "_Student__party")
    return party


def source(student: Student) -> str:
    """The text of the student's module.

    Raises:
        CannotJudge: it is not text.
    """
    sitting = party_of(student).sitting
    try:
        return sitting.files[sitting.module + ".py"].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CannotJudge(f"your {sitting.module}.py is not UTF-8 text: {error}") from None


def _missing(party: Party, name: str) -> str:
    near = " and ".join(f"`{other}`" for other in difflib.get_close_matches(name, party.names(), n=2))
    hint = f"; it has {near}" if near else ""
    return f"{party.sitting.owner} {party.sitting.module}.py has no `{name}`{hint}"


def _kept(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies of arguments, so that a later change does not show."""
    try:
        return copies(*values)
    except Unsupported:
        return values
