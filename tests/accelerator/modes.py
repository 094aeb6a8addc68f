"""Tests that run with a simulated accelerator: each in a process of its own, forked from one that has torch loaded.

A test says in which mode it runs: `@in_mode("cuda")`. The function is called in the child, by its name, with the
arguments that pytest gives it; only plain ones are possible.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import os
import pickle
import re
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    import torch


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


@functools.cache
def _server() -> subprocess.Popen[bytes]:
    """The process that the children are forked from; it ends with this one."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-B", __file__], env=environment, **pipes)
    atexit.register(process.communicate)
    return process


def run_in_child(module: str, name: str, mode: tuple[str, dict[str, Any]], arguments: dict[str, Any]) -> str:
    """Run a test; "" or the traceback."""
    stdin, stdout = cast(Any, (_server().stdin, _server().stdout))
    pickle.dump((module, name, mode, arguments), stdin)
    stdin.flush()
    return str(pickle.load(stdout))


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


def _forked(*call: Any) -> str:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        text = _call(*call)
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

    while True:
        try:
            module, name, mode, arguments = pickle.load(requests)
        except EOFError:
            return
        function = getattr(importlib.import_module(f"accelerator.{module}"), name)
        pickle.dump(_forked(function, mode, arguments), answers)
        answers.flush()


if __name__ == "__main__":
    serve()
