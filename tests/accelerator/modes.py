"""Tests that run with a simulated accelerator: each in a process of its own, forked from one that has torch loaded.

A test says in which mode it runs: `@in_mode("cuda")`. The function is called in the child, by its name, with the
arguments that pytest gives it; only plain ones are possible. Where nothing can be forked, a fresh interpreter runs it.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import re
import struct
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import torch

CAN_FORK = hasattr(os, "fork")


def in_mode(mode: str, **options: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Mark a test: a mode, or "off" for a process without; `options` go to `enable`."""

    def mark(function: Callable[..., None]) -> Callable[..., None]:
        function.accelerator_mode = (mode, options)  # type: ignore[attr-defined]
        return function

    return mark


def raises(error: type[BaseException], text: str) -> pytest.RaisesExc[BaseException]:
    """An error whose text holds this one."""
    return pytest.raises(error, match=re.escape(text))


def counted(*names: str) -> tuple[Any, ...]:
    """Some of the counters."""
    from grader import accelerator

    found = accelerator.counters()
    return tuple(found[name] for name in names)


def grad_of(tensor: torch.Tensor) -> torch.Tensor:
    """The gradient of a tensor, which must be there."""
    assert tensor.grad is not None
    return tensor.grad


class Children:
    """The process that the children are forked from; it is closed with the session."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def run(self, path: Path, name: str, mode: tuple[str, dict[str, Any]], arguments: dict[str, Any]) -> str:
        """Run a test; "" or the traceback."""
        if self.process is None:
            command = [sys.executable, "-B", str(Path(__file__)), *(["--once"] if not CAN_FORK else [])]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        send(self.process.stdin, (str(path), name, mode, arguments))
        answer = receive(self.process.stdout)
        if not CAN_FORK:
            self.close()
        return str(answer)

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            self.process.stdin.close()
            self.process.wait(30)
            self.process.stdout.close()
            self.process = None


def send(stream: IO[bytes], thing: Any) -> None:
    data = pickle.dumps(thing)
    stream.write(struct.pack("<I", len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    head = stream.read(4)
    if len(head) < 4:
        raise EOFError("the process ended")
    return pickle.loads(stream.read(struct.unpack("<I", head)[0]))


def _load(path: str, known: dict[str, ModuleType]) -> ModuleType:
    if path not in known:
        spec = importlib.util.spec_from_file_location(f"child_{Path(path).stem}", path)
        assert spec is not None
        assert spec.loader is not None
        known[path] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(known[path])
    return known[path]


def _call(function: Callable[..., None], mode: tuple[str, dict[str, Any]], arguments: dict[str, Any]) -> str:
    from grader import accelerator

    warnings.simplefilter("error")
    try:
        if mode[0] != "off":
            accelerator.enable(mode[0], **mode[1])  # type: ignore[arg-type]
        function(**arguments)
    except BaseException:
        return traceback.format_exc()
    return ""


def _forked(work: Callable[[], str]) -> str:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        text = work()
        with os.fdopen(write, "wb") as stream:
            stream.write(text.encode("utf-8", "replace") or b"\0")
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        data = stream.read()
    _, status = os.waitpid(child, 0)
    return data.decode("utf-8").strip("\0") if data else f"the process of the test died with status {status}"


def serve() -> None:
    """Run tests until nobody asks any more."""
    from grader import accelerator

    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a test prints is not an answer
    accelerator.preload()
    importlib.import_module("torch._dynamo")  # optimizers import it; once is enough

    known: dict[str, ModuleType] = {}
    while True:
        try:
            path, name, mode, arguments = receive(requests)
        except EOFError:
            return
        function = getattr(_load(path, known), name)
        if "--once" in sys.argv:
            send(answers, _call(function, mode, arguments))
            return
        send(answers, _forked(lambda f=function, m=mode, a=arguments: _call(f, m, a)))  # type: ignore[misc]


if __name__ == "__main__":
    serve()
