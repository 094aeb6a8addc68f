"""A worker's life: load the submission, answer requests, end. Student code runs here and nowhere else."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import os
import random
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from grader.wire.exchange import Exchange
from grader.wire.frames import Channel, ChannelClosed, Frame, Unsupported
from grader.wire.incoming import Incoming
from grader.wire.outgoing import Outgoing
from grader.wire.requests import (
    Asked,
    Call,
    FrameRow,
    Get,
    Go,
    Load,
    LoadProbe,
    Prepare,
    RaisedRow,
    Replies,
    Reply,
    Request,
)
from grader.wire.rows import Told
from grader.wire.tree import Plain
from grader.worker import device, own_probes, stops

NO_MEMORY = 71
"""Exit status of a worker that has no memory left for a request."""

_MAX_TEXT = 2000
_MAX_FRAMES = 20
_MAX_NAMES = 500


def serve(channel: Channel, folder: str) -> None:
    """Answer requests until the channel closes."""
    worker = _Submission(folder)
    stops.prepare()
    channel.maps = True
    with contextlib.suppress(ChannelClosed):
        while True:
            try:
                frame = channel.receive()
            except (MemoryError, OSError):  # what student code keeps leaves no room for the next arguments
                os._exit(NO_MEMORY)
            reply, data = worker.answer(frame)
            _flush()
            stops.stop_timers()
            try:
                channel.send(frame.number, reply.plain(), data)
            except Unsupported as error:
                channel.send(frame.number, _unsupported(error).plain())


class _Submission:
    """The student's module, and the probes that run beside it."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.realpath(folder)
        self._module = types.ModuleType("not_loaded")
        built_in = {
            name: getattr(own_probes, name) for name in own_probes.__all__
        }  # as they are before student code is loaded
        self._probes: dict[str, Any] = {"": types.SimpleNamespace(**built_in)}
        self._exchange = Exchange(asks=False, find=self._find)
        self._timed = self._exchange

    def answer(self, frame: Frame) -> tuple[Reply | Replies, list[bytes]]:
        """The answer to one request. Whatever student code raises is part of it."""
        asked = Asked.read(frame.tree)
        arriving, leaving = self._tables(asked.request)
        try:
            incoming = Incoming(arriving, asked.objects, frame.data, mapped=frame.mapped)
            if asked.seed is not None:
                _seed_everything(asked.seed)
            if isinstance(asked.request, Go):
                return self._go(asked.request, incoming)
            return self._reply(lambda: self._done(asked.request, incoming), leaving)
        except Unsupported as error:
            return _unsupported(error), []
        finally:
            arriving.end_call()

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
                raised = self._raised(error)
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
        for name, text in files.items():
            path = Path(self._folder, *name.split("/"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        sys.path.append(self._folder)
        self._module = _import_file(asked.module, Path(self._folder, asked.module + ".py"))
        if asked.secret:  # the reference: nothing that another worker could find
            for name in files:
                Path(self._folder, *name.split("/")).unlink()
        mine = dict(vars(self._module))
        kinds = {name: _kind(mine[name]) for name in mine if isinstance(name, str) and not name.startswith("_")}
        first = sorted(kinds, key=lambda name: kinds[name] != "callable")  # what checks call, should there be too many
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
            error.__dict__["_signature"] = _signature(function)
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
        if space == "student":
            return getattr(self._module, name) if name else self._module
        return getattr(self._probes[space.removeprefix("probe:")], name)

    def _raised(self, error: BaseException) -> RaisedRow:
        """An exception as plain data: names of its type and nearest builtin, bounded text, the student's own lines."""
        frames = []
        if isinstance(error, SyntaxError) and error.filename and self._is_own(error.filename):
            frames.append(FrameRow(self._own_name(error.filename), error.lineno or 0, "", _cut(error.text or "")))
        for frame in traceback.extract_tb(error.__traceback__)[-10 * _MAX_FRAMES :]:
            if self._is_own(frame.filename):
                place = self._own_name(frame.filename), frame.lineno or 0
                frames.append(FrameRow(*place, frame.name, _cut(frame.line or "")))
        return RaisedRow(
            type=_cut(type(error).__name__.lstrip("_")),  # torch.linalg.LinAlgError calls itself _LinAlgError
            builtin=_nearest_builtin(type(error)),
            text=_text(error).replace(self._folder + os.sep, ""),
            frames=tuple(frames[-_MAX_FRAMES:]),
            signature=error.__dict__.get("_signature") if not frames else None,
        )

    def _is_own(self, filename: str) -> bool:
        return os.path.isabs(filename) and os.path.realpath(filename).startswith(self._folder + os.sep)

    def _own_name(self, filename: str) -> str:
        return _cut(os.path.relpath(os.path.realpath(filename), self._folder))


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
    if callable(obj):
        return "callable"
    return "module" if issubclass(type(obj), types.ModuleType) else "value"


def _signature(function: Any) -> str | None:
    try:
        return _cut(str(inspect.signature(function)))
    except (TypeError, ValueError):
        return None


def _seed_everything(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def _unsupported(error: Unsupported) -> Reply:
    return Reply(Told([], [], []).plain(asks=False), unsupported=_cut(str(error)))


def _nearest_builtin(kind: type[BaseException]) -> str:
    return next(base.__name__ for base in kind.__mro__ if base.__module__ == "builtins")


def _text(error: BaseException) -> str:
    try:
        return _cut(error.msg if isinstance(error, SyntaxError) else str(error))
    except BaseException as second:  # a student's __str__ may do anything
        return f"(its text cannot be shown: {type(second).__name__})"


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + " ..."


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):  # the student may have closed or replaced it
            stream.flush()
