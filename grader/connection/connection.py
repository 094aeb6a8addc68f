"""A connection to student code, one exercise of one author or of the reference, and the proxies of objects there.

Requests go out, replies come in. A request is a message (`wire.encode`) that says what to do; each has one reply: the
value, or what student code raised. The worker is started when it is needed and replaced when it is lost.

A proxy stands in a check for an object that stays in the worker. It has six abilities: get and set an attribute, call,
get an item, get the length, iterate. Any other use raises an error that names the probe to write.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any

from grader.connection.raised import Raised, exception_of, load_error, raised_by_student, read_traceback
from grader.connection.record import Call, Record
from grader.model import DeviceKind, Limits, Verdict
from grader.model.endings import CheckFailed, NotUsable, WorkerLost
from grader.model.public_text import say
from grader.wire.call import EncodedCall, encode_call
from grader.wire.decode import Decoder
from grader.wire.frames import Frame, ProtocolError, Unsupported, expect, is_index
from grader.wire.table import ObjectTable
from grader.worker_process.process import Losses, WorkerProcess
from grader.worker_process.starter import Starter

_MOST_REASON = 300
_LONGEST_NAME = 100

_UNSUPPORTED = """
    bool eq ne lt le gt ge contains setitem delitem delattr add radd iadd sub rsub isub mul rmul imul truediv
    rtruediv floordiv rfloordiv mod rmod divmod rdivmod pow rpow matmul rmatmul lshift rlshift rshift rrshift and rand
    or ror xor rxor neg pos abs invert int float complex index round trunc floor ceil reversed fspath
    enter exit next await aiter array reduce_ex copy deepcopy
"""
"""What Python asks of a value by other methods than those six."""
_COMPARING = {"eq", "ne", "lt", "le", "gt", "ge", "sub", "rsub", "abs", "array"}
"""Those among them by which a check compares a result with a value."""


@dataclass(frozen=True)
class ProxyTarget:
    """The object that a proxy stands for: its worker, and what messages call it.

    Attributes:
        connection: the connection whose worker has it.
        child: the object in a message: `["name", space, name]`, or `["proxy", number]`.
        word: its name in messages, in words of the check's own.
        kind: the name of its class, as the worker says; "" for what has a name.
        generation: the number of the connection's worker that has it, from 1; 0 for what has a name, in each worker.
    """

    connection: Connection
    child: tuple[Any, ...]
    word: str
    kind: str = ""
    generation: int = 0

    @property
    def of_probe(self) -> bool:
        """Return True for a function of a probe, False for an object of the student's module."""
        return bool(self.child[0] == "name" and self.child[1] != "student")


class Proxy:
    """A stand-in, in a check, for an object that stays in a worker.

    `student.total` is a proxy of the student's function, and `student.total(x)` calls the function in the worker.
    """

    __slots__ = ("_Proxy__target", "__weakref__")

    __target: ProxyTarget

    def __init__(self, target: ProxyTarget) -> None:
        object.__setattr__(self, "_Proxy__target", target)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the object: a copy of a value, or a proxy of anything else."""
        if name.startswith("__"):  # Python, NumPy and PyTorch ask for such names to find out what something is
            raise AttributeError(name)
        return target_of(self).connection.ask(
            "get", [self, name], owned_name_of(self, name), f"{shown_name(self)}.{name}"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute of the object."""
        target_of(self).connection.ask("set", [self, name, value], owned_name_of(self, name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the object."""
        return self.__target.connection.call(self, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        """Return an item of the object."""
        return target_of(self).connection.ask("item", [self, key], owned_name_of(self), shown_name(self))

    def __len__(self) -> int:
        """Return the length of the object."""
        length = target_of(self).connection.ask("len", [self], owned_name_of(self))
        if type(length) is not int or not 0 <= length < 1 << 62:  # the worker may answer anything
            raise TypeError(f"the length of {shown_name(self)} is not a number")
        return length

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the items of the object.

        The worker sends all items in one reply.
        """
        return iter(target_of(self).connection.ask("iter", [self], owned_name_of(self), shown_name(self)))

    def __del__(self) -> None:
        """Add the object's number to those that the worker forgets at its next request.

        Nothing is added if the object has a name or its worker has ended.
        """
        target = target_of(self)
        if target.generation and target.generation == target.connection.generation:
            target.connection.dropped.append(target.child[1])

    def __word__(self) -> str:
        """Return the name of the object in messages, such as "Counter.add".

        `Public` calls this for each proxy among its words.
        """
        return target_of(self).word

    def __repr__(self) -> str:
        """Return "<proxy of CLASS>", or the name of an object that the module has under a name.

        An object that `student.make()` returned is "<proxy of Counter>", and `student.total` is "total".
        """
        target = target_of(self)
        return f"<proxy of {target.kind}>" if target.kind else target.word

    __hash__ = object.__hash__


def _unsupported_method(name: str) -> Any:
    def method(self: Proxy, *_: Any) -> Any:
        instead = "compare it by `assert_values`, which fails for such an object; or " if name in _COMPARING else ""
        raise TypeError(
            f"a check cannot use __{name}__ of {self!r}, which lives in another process: {instead}write a probe, a "
            "function that runs beside student code, and let it do this"
        )

    return method


for _name in _UNSUPPORTED.split():
    setattr(Proxy, f"__{_name}__", _unsupported_method(_name))


def is_proxy(value: object) -> bool:
    """Return whether a value stands for an object in a worker."""
    return type(value) is Proxy


def target_of(proxy: Proxy) -> ProxyTarget:
    """Return the `ProxyTarget` of a proxy.

    It says in which worker the object is, under which number or name, and how messages name the object.
    """
    target: ProxyTarget = object.__getattribute__(proxy, "_Proxy__target")
    return target


def function_proxy(function: Any) -> Proxy:
    """Return `function` itself if it is a proxy; raise an error for anything else.

    By this, functions of `grader.check` refuse an argument that is not a function in a worker.

    Raises:
        NotUsable: `function` is a copy of a value: the student's file assigns a value to the name that the check calls.
        Unsupported: `function` is a function of the check's own.
    """
    if is_proxy(function):
        return function  # type: ignore[no-any-return]
    if callable(function):
        raise Unsupported("a function of the student's is expected here, such as student.total")
    raise NotUsable("your file has a value where a function is expected", about="name")


def connection_of(function: Any) -> Connection:
    """Return the connection to the worker in which a proxy's object lives.

    Args:
        function: the proxy.

    Raises:
        NotUsable: `function` is a copy of a value: the student's file assigns a value to the name that the check calls.
        Unsupported: `function` is a function of the check's own.
    """
    return target_of(function_proxy(function)).connection


def shown_name(proxy: Proxy) -> str:
    """Return the name of a proxy's object in messages, such as "Counter.add"."""
    return target_of(proxy).word


def kind_of(proxy: Proxy) -> str:
    """Return the class name of a proxy's object; "function" if its worker sent no class.

    The name is what the worker claims.
    """
    return target_of(proxy).kind or "function"


def owned_name_of(proxy: Proxy, attribute: str = "") -> str:
    """Return the name in messages of a proxy's object or of its attribute, with the owner.

    Examples are "your `Counter`", "your `Counter.add`" and "the probe `f`".
    """
    target = target_of(proxy)
    word = f"{target.word}.{attribute}" if attribute else target.word
    return f"the probe `{word}`" if target.of_probe else f"{target.connection.owner} `{word}`"


def proxy_of_name(connection: Connection, name: str, space: str = "student") -> Proxy:
    """Return a proxy of the object that a worker has under a name.

    Args:
        connection: the connection to the worker.
        name: the name of a function, a class or another object.
        space: the module: "student" for the student's, the name of a probe file, or "" for our own probes.
    """
    return Proxy(ProxyTarget(connection, ("name", space, name), name))


def _read_left_out(row: Any) -> tuple[str, int, str]:
    """Read one row about a statement that was left out because it needs a forbidden package.

    Args:
        row: the file, the line and the package, as the worker sent them; untrusted.

    Returns:
        The file, the line and the package, such as `("masks.py", 3, "numpy")`; `("", 0, "")` for a row of a wrong form.
    """
    match row:
        case [str(file), int(line), str(package)] | (str(file), int(line), str(package)):
            return file[:_LONGEST_NAME], line, package[:_LONGEST_NAME]
    return "", 0, ""


@dataclass(eq=False)
class Connection:
    """A connection to the worker of one exercise of one author, or of the reference. Close it.

    Attributes:
        starter: starts workers.
        module: name of the exercise module.
        files: the submission's files by relative name.
        limits: the limits of the exercise.
        owner: the owner of the code in messages: "your" or "the reference's".
        secret: True if the files must not stay on disk while the worker lives.
        device: the accelerator that its code sees.
        data: files that lie beside them, by relative name.
        folder: the folder of the files, as the student types it; "" if that is unknown.
        without: packages that the exercise is solved without; if there are any, its workers have none at all.
        names_in_checks: names that the exercise's checks mention, called or not; None if unknown.
        record: the record of the check that runs now.
        answered: the names in messages of what has returned a value: "your `total`"; `with_new_worker` shares them.
        student: the student's connection, if this is the reference's, which gets arguments as they were before a call.
        reference: the reference's connection, if this is the student's and there is one.
        left_out: statements at the top of the files that need such a package: file, line, package; as the worker says.
        generation: the number of workers that it has had.
        worker: the last of them, while it lives.
        dropped: numbers of objects there that had a proxy, and may have none any more.
    """

    starter: Starter
    module: str
    files: Mapping[str, bytes]
    limits: Limits
    owner: str = "your"
    _: KW_ONLY
    secret: bool = False
    device: DeviceKind = DeviceKind.NONE
    data: Mapping[str, bytes] = field(default_factory=dict)
    folder: str = ""
    without: tuple[str, ...] = ()
    names_in_checks: frozenset[str] | None = None
    record: Record = field(default_factory=Record)
    answered: set[str] = field(default_factory=set)
    student: Connection | None = None
    reference: Connection | None = None

    def __post_init__(self) -> None:
        self.generation = 0
        self.worker: WorkerProcess | None = None
        self._usual_s = self.limits.call_s
        self._seeded = False
        self._names: dict[str, str] | None = None
        self.left_out: tuple[tuple[str, int, str], ...] = ()
        self._unloadable: NotUsable | None = None
        self._probes: dict[str, str] = {}
        self._proxies: weakref.WeakValueDictionary[int, Proxy] = weakref.WeakValueDictionary()
        self.dropped: list[int] = []
        self._losses = Losses()
        self.deadlocked: set[str] = set()
        self._outputs: dict[int, tuple[str, int]] = {}

    def with_new_worker(self) -> Connection:
        """Return another connection with the same files, which starts its own worker.

        What is called there, such as a function that is timed, does not disturb the check's own worker. The caller
        closes it.
        """
        # Losses are counted anew: a timed call that is stopped on purpose must not use up what the checks may lose.
        record = Record(self.record.seed, self.record.renew)
        return replace(self, record=record, student=None, reference=None)

    def begin_check(self, record: Record, limits: Limits | None = None) -> None:
        """Set the record and the limits of the check that begins now.

        Args:
            record: the record of the check.
            limits: the limits of the check; None to keep those of the check before.
        """
        self.record, self._seeded = record, False
        self.limits = limits or self.limits

    def names(self) -> dict[str, str]:
        """Return the public names of the module, each with "callable" or "value".

        An example is `{"total": "callable", "SIZE": "value"}`. The worker loads the module first if it has not.

        Raises:
            NotUsable: the module does not load.
            WorkerLost: the worker was lost.
        """
        if self._unloadable is not None:
            raise self._unloadable
        if self.worker is None or self._names is None:
            self._names = None
            with self.starter.waiting(student=not self.secret):
                self._names = self._load()
        return self._names

    def known_names(self) -> dict[str, str]:
        """Return the public names of the module as of its last load, even by a lost worker.

        Each name has "callable" or "value". The module is loaded only if it was never loaded before.
        """
        return self.names() if self._names is None else self._names

    def _load(self) -> dict[str, str]:
        """Have the worker load the module, and return the module's public names.

        Each name has "callable" or "value". The worker gets the data files, too. Statements that were left out go into
        `left_out`.
        """
        self._probes, self._seeded, self.dropped = {}, False, []
        what = f"{self.owner} {self.module}.py"
        # The files of the course come last, and replace others of their names.
        given = [*((*item, False) for item in self.files.items()), *((*item, True) for item in self.data.items())]
        sizes = [(name, len(content), is_data) for name, content, is_data in given]
        tree = {"do": "load", "name": self.module, "files": sizes, "secret": self.secret, "device": self.device.value}
        tree["without"] = self.without
        try:
            frame = self.exchange_messages(tree, [content for _, content, _ in given], what, self.limits.load_s)
            answer = self.value_of(frame, what, "", ObjectTable())
        except Exception as error:
            raised = raised_by_student(error)
            if raised is None:
                raise
            source = self.files.get(raised.lines[-1].file if raised.lines else f"{self.module}.py", b"")
            self._unloadable = load_error(self.module, raised, self.folder, source, before=what in self.answered)
            self._unloadable.__dict__["_raised"] = raised  # whose file it is distinguishes a fault of ours
            raise self._unloadable from None
        match answer:
            case [dict(names), list(left_out)] if all(isinstance(part, str) for row in names.items() for part in row):
                self.left_out = tuple(_read_left_out(row) for row in left_out)
            case _:
                raise self.end_for_protocol_error(what, "no table of names")
        return names

    def load_probe(self, name: str, source: str) -> str:
        """Send a probe file to the worker, and return the name of its module in requests.

        A probe file has functions that run beside student code. For the name "probe_masks" the result is
        "probe:probe_masks". Nothing is sent if the worker has this file already.
        """
        self.names()
        if self._probes.get(name) != source:
            self._ask_loaded_worker("probe", [name, source], f"the probe {name}", "", self.limits.load_s)
            self._probes[name] = source
        return f"probe:{name}"

    # -- requests and replies -----------------------------------------------------------------------------------------

    def call(
        self,
        target: Proxy,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        called: Proxy | None = None,
        noted: Call | None = None,
    ) -> Any:
        """Call an object in the worker, and return the result.

        What the call changes in its arguments in the worker is changed in the check's arguments, too.

        Args:
            target: the object.
            args: its arguments.
            kwargs: its arguments by name.
            called: the student's function that the probe `target` calls, and that messages name; None without a probe.
            noted: the call as `note_call` returned it for `called`; unused if `called` is None.
        """
        if called is None:
            called, noted = target, self.note_call(target, args, kwargs)
        record = self.record
        record.calls_made += 1
        record.arguments = (args, kwargs) if record.calls_made == 1 else ()  # of a second call nobody asks
        if record.rewrite is not None:  # a repeat, whose calls nobody reads
            values, noted = record.rewrite(*args, *kwargs.values()), None
            args, kwargs = values[: len(args)], dict(zip(kwargs, values[len(args) :], strict=True))
        if record.copying:
            record.withheld += args, kwargs
        # The reference, and student code that may not change its arguments, get copies.
        sends_copies = record.copying or self.student is not None
        return self.ask(
            "call",
            [target, kwargs or None, *args],
            owned_name_of(called),
            shown_name(called),
            noted=noted,
            sends_copies=sends_copies,
        )

    def note_call(self, target: Proxy, args: tuple[Any, ...], kwargs: Mapping[str, Any], ranks: int = 1) -> Call | None:
        """Record the name of an object that the check is about to call.

        Args:
            target: the object that is called.
            args: the arguments of the call.
            kwargs: its arguments by name.
            ranks: the number of ranks that call it at the same time.

        Returns:
            The `Call`, for `ask` to store with its encoded arguments; None if the record does not keep this call.
        """
        own = target_of(target)
        self.record.begin_call(own.word, of_probe=own.of_probe)
        is_kept = self.record.recording and own.child[:2] == ("name", "student")
        return Call(own.word, args, kwargs, ranks) if is_kept else None

    def ask(
        self,
        operation: str,
        values: Sequence[Any],
        what: str,
        word: str = "",
        *,
        noted: Call | None = None,
        sends_copies: bool = False,
    ) -> Any:
        """Send a request, wait for its reply, and return its value.

        For `counter[0]` in a check, the operation is "item", and the values are the proxy `counter` and 0.

        Args:
            operation: the name of the operation: call, get, set, item, len or iter.
            values: the object, then the operands, such as the arguments of a call or the name of an attribute.
            what: the name of the request in messages, such as "your `total`".
            word: the name in messages of an object that the reply contains, if that stays in the worker.
            noted: the call that the record stores with the encoded values; None to store nothing.
            sends_copies: True if the worker gets copies of the values as they were before student code changed them.
                Its own changes then do not reach the check's values.

        Raises:
            WorkerLost: there was no reply.
            NotUsable: the module does not load.
            CheckFailed: the result cannot be sent.
            Exception: what student code raised, as its nearest builtin type.
        """
        self.raise_if_given_up(what)  # before a worker is started for it
        if self.worker is None or self._names is None:
            self.names()
        if self.record.renew is not None:
            self.record.renew()
        with self.starter.waiting(student=not self.secret):
            return self._ask_loaded_worker(
                operation, values, what, word, self.limits.call_s, noted, sends_copies=sends_copies
            )

    def _ask_loaded_worker(
        self,
        operation: str,
        values: Sequence[Any],
        what: str,
        word: str,
        seconds: float,
        noted: Call | None = None,
        *,
        sends_copies: bool = False,
    ) -> Any:
        """Do what `ask` does, with a worker that has loaded the module."""
        encoded = self._encode(values, noted, sends_copies=sends_copies)
        frame = self.exchange_messages(dict(encoded.tree, do=operation), encoded.memory, what, seconds)
        return self.value_of(frame, what, word, encoded.table)

    def _encode(self, values: Sequence[Any], noted: Call | None, *, sends_copies: bool) -> EncodedCall:
        """Encode the values of a request.

        If `noted` is a call, the record keeps it with the encoded request.
        """
        original = (self.student or self).record
        with original.arguments_as_they_were() if sends_copies else nullcontext():
            noted_values = () if noted is None else noted.values
            encoded = encode_call(values, self._encode_proxy, noted_values, without_torch=bool(self.without))
            if sends_copies or noted is not None:  # the values change again, or may do so before they are read
                encoded = encoded.with_own_memory()
        if noted is not None:
            self.record.add_call(noted, encoded)
        return encoded.with_copies() if sends_copies else encoded

    def exchange_messages(
        self,
        tree: dict[str, Any],
        data: Sequence[Any],
        what: str,
        seconds: float,
        mapped: tuple[int, int] | None = None,
    ) -> Frame:
        """Send an encoded message, and return the worker's reply as a frame, not decoded.

        Args:
            tree: the message without its blocks of memory.
            data: its blocks of memory.
            what: the name of the request in messages.
            seconds: the CPU seconds that the worker may use until the deadline.
            mapped: the descriptor and the size in bytes of memory that the worker maps, in place of `data`; or None.
        """
        worker = self.worker or self.live_worker()
        if not self._seeded:
            tree["seed"], self._seeded = self.record.seed, True
        if self.dropped:
            dropped, self.dropped = self.dropped, []
            tree["dropped"] = [number for number in dropped if number not in self._proxies]
        worker.channel.budget = self.record.budget
        before = worker.printed_by_then
        try:
            frame = worker.ask(tree, data, seconds, what, mapped)
        except WorkerLost as lost:
            # A check may allow less time than the others do; then a timeout says nothing about them.
            self._note_lost_worker(lost, what, full_time=seconds >= self._usual_s)
            raise
        if self.record.recording and worker.printed_by_then > before:
            self.record.printing.add(what)
        return frame

    def value_of(self, frame: Frame, what: str, word: str, table: ObjectTable) -> Any:
        """Return the value of a reply; raise what student code raised.

        First, the changes that student code made to its arguments are applied to the check's values.

        Args:
            frame: the reply.
            what: the name of the request in messages.
            word: the name in messages of an object that the reply contains, if that stays in the worker.
            table: the table of the values that were sent.
        """
        tree, caps = frame.tree, self.worker.channel.caps if self.worker else None
        if "unsupported" in tree:
            text = say("{} returned a value that the grader cannot read, such as a view of a much larger tensor", what)
            raise CheckFailed(text, f"{text}\n{str(tree['unsupported'])[:_MOST_REASON]}", about="kind")
        try:
            # Arguments first: what student code did to them before it raised counts, too.
            decoder = Decoder(table, partial(self._proxy_from_reply, word), caps)
            values = decoder.decode(tree, frame.data)
            self.record.changes += decoder.changes
            raised = Raised.read(tree["error"], what, self.owner) if tree.get("error") is not None else None
            if raised is None and len(values) != 1:
                raise ProtocolError("a reply has one value")
        except ProtocolError as fault:
            raise self.end_for_protocol_error(what, fault) from None
        if raised is not None:
            raise exception_of(raised)
        self.answered.add(what)
        self.record.nothing.pop(what, None)
        if values[0] is None:
            self.record.nothing[what] = None
        return values[0]

    def _encode_proxy(self, value: Any) -> list[Any]:
        """Return the node that represents a proxy's object in a message to its worker.

        It is `["name", "student", "total"]` for a name of the student's module, and `["proxy", 7]` for an object
        without one.

        Args:
            value: a proxy, or any other value that cannot be encoded.

        Raises:
            Unsupported: the object is in another process, or `value` is not a proxy.
            RuntimeError: the worker that had the object has ended.
        """
        if not is_proxy(value) and self.without:
            raise Unsupported(
                f"a check cannot send an object of type {type(value).__name__} to workers without "
                f"{' and '.join(self.without)} (`without` in exercise.yaml); send numbers, text and containers"
            )
        if not is_proxy(value):
            kind = getattr(getattr(value, "dtype", None), "kind", "")
            what = f"an object of type {type(value).__name__}"
            what = "an array of text" if kind in ("U", "S") else what
            raise Unsupported(
                f"a check cannot send {what} to student code: "
                f"{'send a list of str, or ' if kind == 'U' else ''}write a probe, a function that runs beside student "
                "code, and make it there"
            )
        target = target_of(value)
        if target.connection is not self:
            text = "a call takes objects of the student's or of the reference's, and not of both: call it once for each"
            raise Unsupported(f"`{target.word}` belongs to another process: {text}")
        if target.generation and target.generation != self.generation:
            raise RuntimeError(f"`{target.word}` is gone: its worker has ended")
        return list(target.child)

    def _proxy_from_reply(self, word: str, *child: Any) -> Proxy:
        """Return the proxy of an object that stays in the worker, from its node in a reply.

        Args:
            word: the name of the object in messages.
            child: the node, such as `"proxy", 7, "Counter"`, with the object's number and the name of its class;
                untrusted.
        """
        expect(len(child) == 3 and child[0] == "proxy", "an invalid proxy")
        _, number, kind = child
        expect(is_index(number, 1 << 53) and type(kind) is str and len(kind) <= _LONGEST_NAME, "an invalid proxy")
        proxy = self._proxies.get(number)
        if proxy is None:
            proxy = self._proxies[number] = Proxy(
                ProxyTarget(self, ("proxy", number), word, kind or "object", self.generation)
            )
        return proxy

    # -- the worker, and its loss -------------------------------------------------------------------------------------

    def live_worker(self) -> WorkerProcess:
        """Return the running worker; start one if none runs.

        A worker that is started here has loaded nothing yet.

        Raises:
            WorkerLost: the worker did not start, or too many workers were lost before.
        """
        # Noted each time: the verdict is read from the record, even if the check caught the exception.
        if self._losses.final is not None:
            self.record.lost = self._losses.final
            raise self._losses.final
        if self.worker is None:
            try:
                # The reference's worker serves many authors: it is spared when the exercise of one takes too long.
                simulates = self.device.is_simulated
                kind = {"simulates": simulates, "without_torch": bool(self.without)}
                self.worker = self.starter.start_worker(self.limits, spared=self.secret, **kind)
            except WorkerLost as lost:
                self._note_lost_worker(lost, "")
                raise
            self.generation += 1
            if not self.secret:
                self.starter.students.add(self.worker)
        return self.worker

    def raise_if_given_up(self, what: str) -> None:
        """Raise `WorkerLost` if this request must not be sent again.

        A request is given up after it timed out, or after it lost too many workers.

        Args:
            what: the name of the request in messages, by which lost workers are counted.
        """
        if (lost := self._losses.given_up.get(what)) is not None:
            if lost.verdict is Verdict.TIMED_OUT:
                lost = WorkerLost(lost.verdict, say("{}; it is not called again", lost.public))
            self.record.lost = lost
            raise lost

    def _note_lost_worker(self, lost: WorkerLost, what: str, *, full_time: bool = False) -> None:
        """Record that the worker was lost during a request, and close it.

        Args:
            lost: the exception that says how the worker was lost.
            what: the name of the request in messages; "" if the worker did not start.
            full_time: True if the request had at least the usual seconds for a call. Only then a timeout gives it up.
        """
        with suppress(ProtocolError):
            lost.frames = read_traceback(lost.stack)
        self.record.lost, lost.in_load = lost, self._names is None and what != ""
        self._losses.record(lost, what, full_time=full_time)
        self.outputs()  # closing removes the worker's output; what it printed so far is read first
        self.close()

    def end_for_protocol_error(self, what: str, fault: object) -> WorkerLost:
        """Close a worker that broke the protocol, and return the error for the caller to raise.

        Args:
            what: the name of the request in messages.
            fault: the error or the words that describe the violation.
        """
        lost = WorkerLost(Verdict.CRASHED, say("{} sent the grader a value that it cannot read", what), fault)
        self._note_lost_worker(lost, what)
        return lost

    def exclusive(self) -> AbstractContextManager[None]:
        """Pause all other workers that run submissions, while the block runs.

        They would slow down a call that is timed in it.
        """
        return self.starter.pause_others(self.worker)

    def outputs(self) -> dict[int, tuple[str, int]]:
        """Return what each worker printed, by the worker's number from 1.

        `{1: ("hello", 3)}` says that worker 1 printed "hello", and then 3 more lines.
        """
        if self.worker is not None:
            self._outputs[self.generation] = self.worker.read_output(self.limits.shown_output_kb * 1024)
        return dict(self._outputs)

    def is_near_cpu_limit(self) -> bool:
        """Return whether the worker has used half of the CPU time that it may use in its life.

        A worker of the reference is then replaced before the next check.
        """
        return self.worker is not None and (self.worker.cpu_s() or 0.0) > self.limits.exercise_s / 2

    def close(self) -> None:
        """End the worker."""
        if self.worker is not None:
            self.starter.students.discard(self.worker)
            self.worker.close()
            self.worker = None
