"""A worker's life: load the submission, answer requests, end. Student code runs here and nowhere else."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from grader.wire.exchange import Exchange
from grader.wire.frames import Channel, ChannelClosed, Frame, Unsupported
from grader.wire.incoming import Incoming
from grader.wire.outgoing import Outgoing
from grader.wire.requests import (
    Asked,
    Call,
    Get,
    Go,
    Load,
    LoadProbe,
    Prepare,
    Replies,
    Reply,
    Request,
    parts,
)
from grader.wire.rows import Told
from grader.wire.tree import Plain
from grader.worker import device, generators, own_probes, stops, unset
from grader.worker.files import Files
from grader.worker.raising import cut, note_signature, raised_row

NO_MEMORY = 71
"""Exit status of a worker that has no memory left for a request."""

_MAX_NAMES = 500
_READ_ONLY = 0o444


def serve(channel: Channel, folder: str) -> None:
    """Answer requests until the channel closes."""
    worker = Submission(folder)
    stops.prepare()
    channel.maps = True
    with contextlib.suppress(ChannelClosed):
        while True:
            try:
                frame = channel.receive()
            except (MemoryError, OSError):  # what student code keeps leaves no room for the next arguments
                os._exit(NO_MEMORY)
            for reply, data in worker.answers(frame):
                _flush()
                stops.stop_timers()
                try:
                    channel.send(frame.number, reply.plain(), data)
                except Unsupported as error:
                    channel.send(frame.number, _unsupported(error).plain())


class Submission:
    """The student's module, and the probes that run beside it.

    Args:
        folder: where its files go.
        module: what is asked about until one is loaded.
    """

    def __init__(self, folder: str, module: Any = None) -> None:
        self._folder = os.path.realpath(folder)
        self._module = module or types.ModuleType("not_loaded")
        built_in = {
            name: getattr(own_probes, name) for name in own_probes.__all__
        }  # as they are before student code is loaded
        self._files = Files(self._folder)
        built_in |= {"put_files": self._files.put_files, "take_files": self._files.take_files}
        self._probes: dict[str, Any] = {"": types.SimpleNamespace(**built_in)}
        self._exchange = Exchange(asks=False, find=self._find)
        self._timed = self._exchange
        self._devices = False  # whether student code sees any

    def answers(self, frame: Frame) -> Iterator[tuple[Reply | Replies, list[bytes]]]:
        """The answer to one request, or to each of its calls. Whatever student code raises is part of it."""
        asked = Asked.read(frame.tree)
        arriving, leaving = self._tables(asked.request)
        unset.fill(not isinstance(asked.request, (Prepare, Go)))  # it would be part of the time
        try:
            incoming = Incoming(arriving, asked.objects, frame.data, mapped=frame.mapped)
            if isinstance(asked.request, Load):
                self._devices = asked.request.device != "none"
            if asked.seed is not None:
                generators.seed(asked.seed, devices=self._devices)
            generators.restore(asked.states, devices=self._devices)
            with contextlib.nullcontext() if asked.grad else torch.no_grad():
                for part in parts(asked.request):
                    yield self._answer(part, incoming, leaving)
        except Unsupported as error:  # the arguments cannot be taken in
            for _ in parts(asked.request):
                yield _unsupported(error), []
        finally:
            arriving.end_call()

    def _answer(self, asked: Request, incoming: Incoming, leaving: Exchange) -> tuple[Reply | Replies, list[bytes]]:
        if isinstance(asked, Go):
            return self._go(asked, incoming)
        return self._reply(lambda: self._done(asked, incoming), leaving)

    def _reply(self, do: Callable[[], Any], leaving: Exchange) -> tuple[Reply, list[bytes]]:
        """What comes of doing it, as a reply, and its memory."""
        try:
            raised = result = None
            try:
                value = do()
                out = Outgoing(leaving)
                result = out.value(value)
            except Unsupported:
                raise
            except BaseException as error:  # SystemExit and its kin are answers too
                out = Outgoing(leaving)  # what it did to its arguments before it raised is told
                raised = raised_row(error, self._folder, out.value)
            objects, blocks = out.finish()
        except Unsupported as error:
            return _unsupported(error), []
        return Reply(objects, result, raised), blocks

    def _tables(self, request: Request) -> tuple[Exchange, Exchange]:
        """The tables for what arrives and for what leaves.

        Timed calls have tables of their own, which hold nothing of earlier ones. `Prepare` gives their arguments their
        shape; `Go` brings their numbers, and its replies tell of one result each.
        """
        if isinstance(request, Prepare):
            self._timed = Exchange(asks=False, find=self._find)
        if isinstance(request, (Prepare, Go)):
            return self._timed, Exchange(asks=False)
        return self._exchange, self._exchange

    def _done(self, request: Request, incoming: Incoming) -> Any:
        """What comes of a request."""
        match request:
            case Load():
                return self._load(request, incoming)
            case LoadProbe():
                return self._load_probe(request, incoming)
            case Call(function, args, kwargs):
                return self._call(function, args, kwargs, incoming)
            case Get(obj, name):
                return getattr(incoming.value(obj), name)
        return None  # the arguments of timed calls have their shapes now

    def _load(self, asked: Load, incoming: Incoming) -> dict[str, str]:
        """Write the files into the empty folder, import the module, tell its public names and their kinds."""
        device.show(asked.device)
        files: dict[str, bytes] = incoming.value(asked.files)
        data: dict[str, bytes] = incoming.value(asked.data)
        for name, text in {**files, **data}.items():  # a course's own file is there as the course has it
            path = Path(self._folder, *name.split("/"))
            path.parent.mkdir(parents=True, exist_ok=True)
            # Made with its mode: behind some walls no mode can be changed.
            mode = _READ_ONLY if name in data else 0o666
            with open(path, "wb", opener=functools.partial(os.open, mode=mode)) as file:
                file.write(text)
        sys.path.append(self._folder)
        sys.argv[:] = [asked.module + ".py"]  # as if it had been started so: `parse_args()` finds no words of ours
        self._module = _import_file(asked.module, Path(self._folder, asked.module + ".py"))
        if asked.secret:  # the reference: nothing that another worker could find
            for name in files.keys() - data.keys():
                Path(self._folder, *name.split("/")).unlink()
        mine = dict(vars(self._module))
        kinds = {name: _kind(mine[name]) for name in mine if isinstance(name, str) and not name.startswith("_")}
        # What checks call, should there be too many.
        first = sorted(kinds, key=lambda name: kinds[name] not in ("callable", "error"))
        return {name: kinds[name] for name in first[:_MAX_NAMES]}

    def _load_probe(self, asked: LoadProbe, incoming: Incoming) -> None:
        name, source = asked.module, incoming.value(asked.source)
        module = types.ModuleType(name)
        module.__dict__["__file__"] = name + ".py"
        sys.modules[name] = module
        exec(compile(source, name + ".py", "exec"), module.__dict__)  # noqa: S102  the course's own code
        self._probes[name] = module

    def _call(self, named: Plain, given: list[Plain], by_name: dict[str, Plain], incoming: Incoming) -> Any:
        function = incoming.value(named)
        args = [incoming.value(item) for item in given]
        kwargs = {name: incoming.value(item) for name, item in by_name.items()}
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            note_signature(error, function)
            raise

    def _go(self, asked: Go, incoming: Incoming) -> tuple[Replies, list[bytes]]:
        """Make the calls that were prepared; the numbers are in shared memory, or come along."""
        for number, block in self._timed.blocks.items():
            if (start := asked.places.get(str(number))) is not None:
                block.write(incoming.data[start : start + block.size])

        def one(args: list[Plain]) -> Any:
            result = self._call(asked.function, args, {}, incoming)
            return [result, [incoming.value(item) for item in args]] if asked.in_place else result

        replies, sizes, data = [], [], []
        for args in asked.calls:
            # A table for each, so that a reply holds a copy of its result as it is when its call ends.
            reply, blocks = self._reply(functools.partial(one, args), Exchange(asks=False))
            replies.append(reply)
            sizes.append(sum(map(len, blocks)))
            data.extend(blocks)
            if reply.raised is not None or reply.unsupported is not None:
                break
        return Replies(replies, sizes), data

    def _find(self, space: str, name: str) -> Any:
        if space == "object":
            return self._exchange.look_up(int(name))
        if space == "folder":
            return self._files.path(name)
        if space == "text in folder":
            return str(self._files.path(name))
        if space == "student":
            return getattr(self._module, name) if name else self._module
        return getattr(self._probes[space.removeprefix("probe:")], name)


def _import_file(name: str, path: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _kind(obj: Any) -> str:
    """By the type alone: a student's object may do anything when it is asked. `callable` looks at its type, too."""
    if issubclass(type(obj), type) and issubclass(obj, BaseException):
        return "error"
    if callable(obj):
        return "callable"
    return "module" if issubclass(type(obj), types.ModuleType) else "value"


def _unsupported(error: Unsupported) -> Reply:
    return Reply(Told([], [], []).plain(asks=False), unsupported=cut(str(error)))


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):  # the student may have closed or replaced it
            stream.flush()
