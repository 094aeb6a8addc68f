"""What each name of `torch.cuda` and its like does on the simulated device: it works, or is refused with a sentence.

    python -m grader.accelerator.tools.answers

prints a table for each module and class. Each name is used as a program would, in a process that is forked for it, so
that a crash is found, too. Whatever is neither is a mistake, and the exit status is 1.
"""

from __future__ import annotations

import inspect
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.accelerator.memory
import torch.backends.cuda

from grader.accelerator.enabling import enable

WORKS, REFUSED = "works", "refused"
"""The outcomes of a name that are right."""

OWNERS: dict[str, Callable[[], Any]] = {
    "torch.cuda": lambda: torch.cuda,
    "torch.cuda.memory": lambda: torch.cuda.memory,
    "torch.accelerator": lambda: torch.accelerator,
    "torch.accelerator.memory": lambda: torch.accelerator.memory,
    "torch.backends.cuda": lambda: torch.backends.cuda,
    "torch.backends.cuda.matmul": lambda: torch.backends.cuda.matmul,
    "torch.backends.cuda.cufft_plan_cache": lambda: torch.backends.cuda.cufft_plan_cache[0],
    "torch.cuda.Event()": lambda: _arguments()["event"],
    "torch.cuda.Stream()": lambda: _arguments()["stream"],
    "torch.cuda.CUDAGraph()": lambda: _captured_graph(torch.ones(1, device="cuda")),
    "torch.cuda.get_device_properties()": lambda: torch.cuda.get_device_properties(0),
}

_OF_THE_LANGUAGE = ("typing", "functools", "contextlib", "collections", "threading", "importlib", "enum", "inspect")


def _arguments() -> dict[str, Any]:
    """Return a value for each argument that functions of `torch.cuda` need, by its name.

    So the trial of `set_device(device)` calls `set_device(0)`.
    """
    recorded = _recorded_event()
    tensor = torch.ones(1, 1, device="cuda")
    return {
        **dict.fromkeys(("device", "peer_device", "seed", "index", "device_index"), 0),
        "stream": torch.cuda.Stream(),
        "event": recorded,
        "end_event": recorded,
        "other": recorded,
        "end": recorded,
        "tensor": tensor,
        "sample_args": (tensor,),
        "callables": torch.nn.Linear(1, 1).cuda(),
        "new_state": torch.cuda.get_rng_state(),
        "new_states": torch.cuda.get_rng_state_all(),
        "generator": torch.Generator("cuda"),
        "cuda_graph": torch.cuda.CUDAGraph(),
        "fraction": 0.5,
        "enabled": True,
        "debug_mode": 0,
        "size": 512,
        "res": 0,
        "params": _attention_params(tensor),
    }


def _recorded_event() -> torch.cuda.Event:
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def _attention_params(tensor: torch.Tensor) -> Any:
    states = tensor.view(1, 1, 1, 1)
    return torch.backends.cuda.SDPAParams(states, states, states, None, 0.0, False, False)


def _captured_graph(tensor: torch.Tensor) -> torch.cuda.CUDAGraph:
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph):
        tensor.add_(1)
    return graph


def names_to_try(owner: Any) -> list[str]:
    """Return the public names of a module or object that are to be tried.

    Modules, names imported from Python's library, and names that begin with `_` or `capture_` are left out, and so is
    the function that works only within a capture.
    """
    found = []  # without those that begin and end a capture, by which the graph is made
    for name in sorted(dir(owner)):
        value = inspect.getattr_static(owner, name, None)
        module = getattr(value, "__module__", None) or ""
        if (
            name.startswith(("_", "capture_"))
            or name == "get_currently_capturing_graph"
            or isinstance(value, types.ModuleType)
            or module.startswith(_OF_THE_LANGUAGE)
        ):
            continue
        found.append(name)
    return found


def _use_name(owner: Any, name: str) -> None:
    value = getattr(owner, name)
    if not callable(value) or (isinstance(value, type) and issubclass(value, BaseException)):
        return
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):  # a class of C++, without a signature
        return
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    known = _arguments()
    asked = [one.name for one in parameters if one.default is one.empty and one.kind in positional]
    value(*[known.get(one) for one in asked])


def try_name(label: str, name: str) -> str:
    """Try one name of a module such as `torch.cuda`, and return if it works or is refused.

    If the name is that of a function, the function is called. For the label "torch.cuda", the name `synchronize`
    returns "works", and `utilization`, which needs a real GPU, "refused".

    Args:
        label: the key of the module or object in `OWNERS`.
        name: the name to try.

    Returns:
        "works"; "refused" for a `NotImplementedError` with a message; or text that describes any other error.
    """
    try:
        _use_name(OWNERS[label](), name)
    except NotImplementedError as error:
        return REFUSED if str(error) else "NotImplementedError without a sentence"
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return WORKS


def try_names(label: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the outcome of each attribute of `OWNERS[label]`.

    For the label "torch.cuda", `("synchronize", "works")` is one of the pairs. The attributes are tried in a forked
    process. A name that ends the process has an outcome, too.
    """
    done: set[str] = set()
    while True:
        read_end, write_end = os.pipe()
        if not (child := os.fork()):
            _write_outcomes(label, done, write_end)
        os.close(write_end)
        with os.fdopen(read_end, encoding="utf-8") as stream:
            told = [line.rstrip("\n").split("\t") for line in stream]
        _, status = os.waitpid(child, 0)
        found = {name: text for name, text in told if text}
        yield from found.items()
        if not status:
            return
        # A name without an outcome ended its process.
        name = next((name for name, _ in told if name not in found), "")
        yield name or "enable", f"the process ends with status {status}"
        if not name:
            return
        done |= {name, *found}


def _write_outcomes(label: str, done: set[str], write_end: int) -> None:
    """Try the names in this child process, write their outcomes to a pipe, and exit.

    For the name `seed`, it writes a line `seed` with a tab before the trial, and a line `seed`, tab, `works` after it.
    So the parent knows which name ended the process.

    Args:
        label: the key of the owner in `OWNERS`.
        done: the names that are not tried again.
        write_end: the file descriptor by which this process writes to the pipe.
    """
    status = 1
    try:
        warnings.simplefilter("ignore")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        enable("cuda")
        for name in names_to_try(OWNERS[label]()):
            if name not in done:
                os.write(write_end, f"{name}\t\n".encode())
                os.write(write_end, f"{name}\t{try_name(label, name)}\n".encode())
        status = 0
    finally:
        os._exit(status)


def main() -> int:
    """Print, for each module and object in `OWNERS`, which names work, are refused or fail.

    The result is the exit status: 0 if each name works or is refused, else 1.
    """
    wrong = 0
    for label in OWNERS:
        found = dict(try_names(label))
        sys.stdout.write(f"{label}\n")
        for kind in (WORKS, REFUSED):
            if names := [name for name, text in found.items() if text == kind]:
                sys.stdout.write(f"  {kind}: {', '.join(names)}\n")
        for name, text in found.items():
            if text not in (WORKS, REFUSED):
                wrong += 1
                sys.stdout.write(f"  WRONG {name}: {text}\n")
        sys.stdout.flush()
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
