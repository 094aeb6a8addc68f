"""A worker's life: start, be confined, load the submission, answer requests, end. Student code runs here alone.

It is forked by the worker server, or a fresh interpreter, for systems where fork is missing, or unsafe once torch is
imported. The channel of a fresh interpreter is its standard input and output, and its output goes where standard error
goes. It warms up first and says so, so that one can be ready ahead of need. `Libraries` says what it has.

Each request says what to do (`do`) and has one reply: its value, or what student code raised.
"""

from __future__ import annotations

import builtins
import contextlib
import difflib
import functools
import inspect
import linecache
import os
import signal
import socket
import sys
import traceback
import types
import warnings
from bdb import BdbQuit
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from itertools import islice
from operator import getitem
from pathlib import Path
from typing import Any

from grader.sandbox import cgroup, kernel
from grader.sandbox.datagrams import from_tree, receive, send
from grader.sandbox.levels import Sandbox
from grader.sandbox.start_messages import WARNED, StartWorker, WorkerReady
from grader.wire.frames import Channel, Frame, Unsupported, pack_messages
from grader.wire.table import ObjectTable, padded_blocks
from grader.wire.transport import ChannelClosed, SocketTransport, standard_streams
from grader.worker.absent import Absent, package_of
from grader.worker.libraries import Libraries


def run_spawned(libraries: Libraries) -> None:
    """Run this fresh interpreter as a worker, on its standard streams.

    Confine the process, then answer the requests that arrive there.
    """
    # The channel moves out of the way: what student code prints must not be read as frames.
    channel, sandbox = Channel(standard_streams(), trusts=True), Sandbox()
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115  lives as long as the process
    libraries.preload()
    channel.send(0, {})
    sandbox.give_up_rights()
    wanted = from_tree(channel.receive().tree)
    assert isinstance(wanted, StartWorker)
    _confine_and_serve(channel, sandbox, wanted, libraries)


def run_forked(orders: socket.socket, sandbox: Sandbox, libraries: Libraries) -> None:
    """Run this forked process as a worker, and never return.

    Wait for the `StartWorker` message, confine the process, and answer requests.

    Args:
        orders: the socket on which the `StartWorker` message arrives.
        sandbox: the sandbox that confines the worker.
        libraries: the libraries that the worker has.
    """
    kernel.set_name("grade-worker")
    if sys.platform == "linux":
        # They make a fork cheaper. Under load one takes its time to be had, and that is student code's time.
        kernel.disable_huge_pages()
    send(orders, WorkerReady(), sandbox.open_peak_reset())
    # In this order: the sandbox still needs descriptors of the server's. After the next line there is one left, so that
    # no worker holds a lane's socket or another worker's.
    sandbox.give_up_rights()
    kernel.close_all_but(orders.fileno())
    message, descriptors = receive(orders)
    if not isinstance(message, StartWorker):  # the server is gone
        os._exit(0)
    channel_fd, output_fd, *entries = descriptors
    cgroup.enter(entries)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    channel = socket.socket(fileno=os.dup2(channel_fd, 3) if channel_fd != 3 else 3)
    kernel.close_all_but(3)
    # Its descriptor is closed by now. Were the object collected later, it would close the number's next owner.
    orders.detach()
    _confine_and_serve(Channel(SocketTransport(channel), trusts=True), sandbox, message, libraries)


def _confine_and_serve(channel: Channel, sandbox: Sandbox, wanted: StartWorker, libraries: Libraries) -> None:
    """Confine this process, serve until the channel closes, and end."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    warnings.formatwarning = _warning_line
    folder = sandbox.confine(wanted.limits, wanted.folder)
    channel.send(0, {})  # the last layer holds: no submission is sent before
    serve(channel, folder, libraries)
    # Nothing of the student's is waited for or run any more: no thread, no function left with `atexit`.
    os._exit(0)


def _warning_line(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """Return a warning as one line that begins with a mark, the character U+001E.

    By the mark, a report can tell the warning from what the student printed. Behind it the line is, for example,
    "double.py:3: UserWarning: careful".
    """
    del line
    return f"{WARNED}{filename}:{lineno}: {category.__name__}: {' '.join(str(message).split())}\n"


NO_MEMORY = 71
"""Exit status of a worker that has no memory left for a request."""

_MAX_ITEMS = 10_000
_READ_ONLY = 0o444
_MAX_TEXT = 2000
_MAX_LINES = 20
_TIMED = ("prepare", "go", "results")

_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF) if hasattr(signal, "setitimer") else ()
_SET_TIMER: Any = getattr(signal, "setitimer", None)  # as it is before student code is loaded

Operations = dict[str, Callable[..., Any]]

Reply = tuple[dict[str, Any], list[Any]]
"""The tree of a reply, and its memory."""


def serve(channel: Channel, folder: str, libraries: Libraries) -> None:
    """Answer requests until the channel closes.

    Args:
        channel: the channel to the check process.
        folder: the folder for the submission's files.
        libraries: the libraries that the worker has.
    """
    loaded = LoadedModule(folder, libraries)
    _install_stop_handlers()
    with contextlib.suppress(ChannelClosed):
        while True:
            try:
                frame = channel.receive()
                number = frame.number
                tree, data = loaded.answer(frame)
                del frame
            except (MemoryError, OSError):  # what student code keeps leaves no room for the next arguments
                os._exit(NO_MEMORY)
            _flush_output()
            _stop_timers()
            try:
                channel.send(number, tree, data)
            except Unsupported as error:
                channel.send(number, _unsupported_reply(error))


class TimeIsOver(BaseException):
    """Raised in student code whose time is over, so that the message can name the line where it was."""


def _install_stop_handlers() -> None:
    """Make student code raise at SIGUSR1 and at breakpoints.

    SIGUSR1 raises `TimeIsOver`. A breakpoint, which would wait for input, raises `BdbQuit`.
    """
    sys.breakpointhook = _stop_at_breakpoint
    if hasattr(signal, "SIGUSR1"):
        signal.signal(signal.SIGUSR1, _raise_time_is_over)


def _stop_at_breakpoint(*args: Any, **kwargs: Any) -> None:
    raise BdbQuit  # where no one types, a prompt is only noise


def _raise_time_is_over(number: int, frame: Any) -> None:
    raise TimeIsOver


def _stop_timers() -> None:
    """Stop all timers that student code has set, so that none goes off outside of student code."""
    for timer in _TIMERS:
        _SET_TIMER(timer, 0)


class LoadedModule:
    """The student's module, the probes that run beside it, and the objects that a check has proxies of.

    Args:
        folder: the folder that its files are written to.
        libraries: the libraries that the worker has.
    """

    def __init__(self, folder: str, libraries: Libraries) -> None:
        self._folder, self._libraries = os.path.realpath(folder), libraries
        self._without: frozenset[str] = frozenset()
        self._spaces: dict[str, Any] = {"": libraries.probes}
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._last_number = 0
        self._prepared = ObjectTable()
        self._calls: list[Any] = []
        self._held: Future[Any] = Future()
        self._own: Operations = {"probe": self._load_probe, "prepare": lambda *_: None}

    def answer(self, frame: Frame) -> Reply:
        """Do what a request asks, and return the reply.

        `do` in its tree is "load", for example, or "call" with a function and its arguments as the values. An exception
        of student code is part of the reply. Objects that the check process has dropped are forgotten first.
        """
        do, libraries = frame.tree["do"], self._libraries
        libraries.begin_request(timed=do in _TIMED)
        if frame.tree.get("return_freed_memory"):
            libraries.return_freed_memory()
        for number in frame.tree.get("dropped", ()):
            if number in self._objects:
                del self._numbers[id(self._objects.pop(number))]
        if do == "results":
            return self._make_calls([self._held.result])
        if do == "go":
            return self._run_prepared_calls(frame, self._object_of(*frame.tree["function"]))
        table = ObjectTable()
        if do == "load":
            libraries.set_device_mode(frame.tree["device"])
        else:
            values = libraries.decoder(table, self._object_of).decode(frame.tree, frame.data, frame.original)
        if "seed" in frame.tree:
            libraries.seed(frame.tree["seed"])
        if do == "load":
            return self._reply(table, self._load, frame)
        if do == "prepare":
            self._prepared, self._calls = table, values
        return self._reply(table, _ON_OBJECTS.get(do) or self._own[do], *values)

    def _reply(self, table: ObjectTable, do: Callable[..., Any], *args: Any) -> Reply:
        """Call a function, and return its result or its exception as a reply.

        The reply also has what the function changed of the arguments, even if it raised. `table` has the objects of the
        request.
        """
        error = None
        try:
            try:
                value = do(*args)
                tree, blocks = self._libraries.encoder(table, self._encode_object).encode([value])
            except Unsupported:
                raise
            except BaseException as raised:  # SystemExit and its kin are answers, too
                error = _exception_row(raised, self._folder, set(self._spaces))
                package = package_of(raised)
                error["absent"] = package if package in self._without else ""
                # What it did to its arguments before it raised is sent as well.
                tree, blocks = self._libraries.encoder(table, self._encode_object).encode([])
        except Unsupported as unsupported:
            return _unsupported_reply(unsupported), []
        if error is not None:
            tree["error"] = error
        return tree, padded_blocks(blocks)

    # -- objects that stay here ---------------------------------------------------------------------------------------

    def _encode_object(self, value: Any) -> list[Any]:
        """Return the list that stands for an object of this process in a message.

        For a layer it is `["proxy", 1, "Linear"]`: its number and the name of its type. An object without a number gets
        one, and is kept under it.
        """
        number = self._numbers.get(id(value))
        if number is None:
            number = self._last_number = self._last_number + 1
            self._objects[number], self._numbers[id(value)] = value, number
        return ["proxy", number, str(type(value).__name__)[:100]]

    def _object_of(self, kind: str, *place: Any) -> Any:
        """Return the object that a request names, by its number or by a module and a name.

        `_object_of("name", "student", "total")` returns the student's function `total`, and `_object_of("proxy", 1)`
        the object that `_encode_object` gave the number 1.

        Args:
            kind: "proxy" for an object with a number; any other word for one with a name.
            place: the number; or the module and the name of the object in it, "" for the module itself. The module is
                "student", "probe:NAME", or "" for the built-in probes.
        """
        if kind == "proxy":
            return self._objects[place[0]]
        space, name = place
        return getattr(self._spaces[space], name) if name else self._spaces[space]

    # -- operations ---------------------------------------------------------------------------------------------------

    def _load(self, frame: Frame) -> list[Any]:
        """Write the files of a submission into the empty folder, and import its module.

        Returns:
            The public names of the module as a dict, such as `{"total": "callable", "RATE": "value"}`; and the
            statements that were left out because they need a forbidden package, see `absent`.
        """
        tree, start = frame.tree, 0
        files: dict[str, bytes] = {}
        data = {name for name, _, is_data in tree["files"] if is_data}
        for file_name, size, _ in tree["files"]:  # a course's own file, which comes last, replaces one of that name
            files[file_name] = bytes(frame.data[start : start + size])
            start += size
        for file_name, content in files.items():
            path = Path(self._folder, *file_name.split("/"))
            path.parent.mkdir(parents=True, exist_ok=True)
            # Made with its mode: some sandboxes allow no change of a mode.
            mode = _READ_ONLY if file_name in data else 0o666
            with open(path, "wb", opener=functools.partial(os.open, mode=mode)) as file:
                file.write(content)
        self._without = frozenset(tree["without"])
        own = {name: each for name, each in files.items() if name.endswith(".py")}
        modules = self._libraries.modules(self._folder, own, tree["without"])
        modules.install()
        sys.argv[:] = [tree["name"] + ".py"]  # as if it had been started so: `parse_args()` finds no words of ours
        module = self._spaces["student"] = modules.load(tree["name"])
        self._libraries.record_import()
        if tree["secret"]:  # the reference: nothing that another worker could find
            for file_name in files.keys() - data:
                Path(self._folder, *file_name.split("/")).unlink()
        mine = dict(vars(module))
        names = [key for key in mine if isinstance(key, str) and not key.startswith("_")]
        # By the type alone, which `callable` examines: a student's object may do anything when it is used.
        kinds = {key: "callable" if callable(mine[key]) else "value" for key in names if type(mine[key]) is not Absent}
        return [kinds, modules.left_out[:_MAX_LINES]]

    def _load_probe(self, name: str, source: str) -> None:
        module = types.ModuleType(name)
        file = module.__dict__["__file__"] = f"{name}.py"
        sys.modules[name] = module
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), module.__dict__)  # noqa: S102  the course's own code
        self._spaces[f"probe:{name}"] = module

    def _run_prepared_calls(self, frame: Frame, function: Any) -> Reply:
        """Call a function with arguments that were sent before, so that only the calls are timed.

        The arguments came with the last request `prepare`. If the frame has elements of new inputs, they are first
        written into these arguments. Return the replies of all calls as one reply; if `in_place` is true in the frame,
        each has the arguments, too.

        If `hold` is true in the frame, make only the first call, keep its result for a request of `results`, and return
        an empty reply.
        """
        blocks, in_place = self._prepared.blocks, frame.tree["in_place"]
        if len(frame.data):
            self._libraries.write_inputs(blocks, frame.data)

        def one(args: tuple[Any, ...]) -> Any:
            result = function(*args)
            return [result, list(args)] if in_place else result

        calls = [functools.partial(one, args) for args in self._calls]
        if not frame.tree["hold"]:
            return self._make_calls(calls)
        self._held = Future()
        try:
            self._held.set_result(calls[0]())
        except BaseException as error:
            self._held.set_exception(error)
        return self._make_calls([])

    def _make_calls(self, calls: Iterable[Callable[[], Any]]) -> Reply:
        """Make calls, and return their replies as one reply.

        Each result is copied as soon as its call has ended.
        """
        replies = []
        for call in calls:
            tree, data = self._reply(ObjectTable(), call)
            replies.append((tree, [bytes(part) for part in data]))
        return pack_messages(replies)


def _call_object(function: Any, kwargs: dict[str, Any] | None, *args: Any) -> Any:
    try:
        return function(*args, **(kwargs or {}))
    except TypeError as error:
        _note_signature(error, function)
        raise


def _list_items(obj: Any) -> list[Any]:
    items = list(islice(obj, _MAX_ITEMS + 1))
    if len(items) > _MAX_ITEMS:
        raise ValueError(f"it has more than {_MAX_ITEMS:,} items")
    return items


_ON_OBJECTS: Operations = {
    "call": _call_object,
    "get": getattr,
    "set": setattr,
    "item": getitem,
    "len": len,
    "iter": _list_items,
}
"""What a request does with an object: as these functions are before student code is loaded."""


def _unsupported_reply(error: Unsupported) -> dict[str, Any]:
    return {"roots": [], "rows": [], "blocks": [], "unsupported": _cut_text(str(error))}


def _flush_output() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # noqa: S112  the student may have closed or replaced it
            continue


# -- what student code raised ------------------------------------------------------------------------------------------


def _exception_row(error: BaseException, folder: str, spaces: Collection[str]) -> dict[str, Any]:
    """Return what the check process needs to know of an exception, as a dict for JSON.

    It has, for example, `"type": "LinAlgError"`, `"builtin": "RuntimeError"` as the nearest type of Python's own, the
    shortened text, and the student's lines of the traceback, such as `["double.py", 3, "double", "return x.sume()"]`.

    Args:
        error: the exception.
        folder: the folder with the submission's files.
        spaces: the names of the loaded modules: the student's, and "probe:NAME" for each probe file.
    """
    lines, statement, caret = [], "", None
    if isinstance(error, SyntaxError) and (name := _name_in_folder(error.filename or "", folder)):
        lines.append([name, error.lineno or 0, "", _cut_text(error.text or "")])
        last = error.end_offset if error.end_lineno == error.lineno else None
        caret = [error.offset or 0, last or 0]
    frames = traceback.extract_tb(error.__traceback__)
    for frame in frames[-10 * _MAX_LINES :]:
        if name := _name_in_folder(frame.filename, folder):
            lines.append([name, frame.lineno or 0, frame.name, _cut_text(frame.line or "")])
    # An assertion of a probe is the course author's, and fails the check; one of the student's is an ordinary
    # exception.
    if isinstance(error, AssertionError) and frames and f"probe:{frames[-1].filename.removesuffix('.py')}" in spaces:
        statement = _cut_text(frames[-1].line or "assert")
    return {
        "type": _cut_text(type(error).__name__.lstrip("_")),  # torch.linalg.LinAlgError calls itself _LinAlgError
        "builtin": next(base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins"),
        "text": _text_of_error(error).replace(folder + os.sep, ""),
        "lines": lines[-_MAX_LINES:],
        "caret": caret,
        "signature": None if lines else error.__dict__.get("_signature"),
        "statement": statement,
    }


def _note_signature(error: TypeError, function: Any) -> None:
    """Store the signature of a function in the TypeError of its call, for the message.

    It is text, such as "(x, y=0)".
    """
    with contextlib.suppress(TypeError, ValueError):  # some functions of C have none
        error.__dict__["_signature"] = _cut_text(str(inspect.signature(function)))


def _cut_text(text: str) -> str:
    """Return a text, cut to at most `_MAX_TEXT` characters."""
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + " ..."


def _name_in_folder(filename: str, folder: str) -> str:
    """Return the path of a file relative to the folder; "" if it is not in the folder."""
    inside = os.path.isabs(filename) and os.path.realpath(filename).startswith(folder + os.sep)
    return _cut_text(os.path.relpath(os.path.realpath(filename), folder)) if inside else ""


def _text_of_error(error: BaseException) -> str:
    try:
        if isinstance(error, SyntaxError):
            return _cut_text(error.msg)
        text = error.args[0] if len(error.args) == 1 and type(error.args[0]) is str else str(error)
        return _cut_text(text + _did_you_mean(error))
    except BaseException as second:  # a student's __str__ may do anything
        return f"(its text cannot be shown: {type(second).__name__})"


def _did_you_mean(error: BaseException) -> str:
    """Return Python's hint ". Did you mean: ...?" for a NameError or an AttributeError.

    "" for any other error, and if no known name is similar.
    """
    if type(error) not in (NameError, AttributeError):
        return ""
    name = str(getattr(error, "name", ""))
    if isinstance(error, AttributeError):
        known = dir(error.obj)
    else:
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        known = [*frames[-1].f_locals, *frames[-1].f_globals, *dir(builtins)] if frames else []
    near = difflib.get_close_matches(name, [each for each in known if each[:1] != "_"], n=1, cutoff=0.7)
    return f". Did you mean: '{near[0]}'?" if near else ""
