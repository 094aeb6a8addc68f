"""One function on several ranks: processes of one worker that talk over gloo, each with arguments of its own.

All of them are the student's, so what they say is untrusted. Each counts its own collectives.
"""

from __future__ import annotations

import datetime
import importlib
import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import torch

from grader.worker.counting import count

_TIMEOUT_S = 10
"""How long a rank waits in a collective for others that do something else: less than a call may take. Who waits for a
rank that is done is told at once, as that rank's connections are closed."""

_WAITED = ("timed out", "closed by peer", "reset by peer", "read error", "broken pipe")
"""What gloo says, in lower case, where another rank did not come to a collective."""

_DISTRIBUTED = "torch.distributed"
_MOST_TEXT = 300
_PLAIN = (int, float, complex, str, list, tuple, dict, type(None))


def on_ranks(function: Callable[..., Any], each: Sequence[list[Any]]) -> list[dict[str, Any]]:
    """Call a function on as many ranks as there are lists of arguments.

    Returns:
        A dict for each rank. `ended` is "returned", "raised", "waits" (for ranks that never come) or "died". With
        "returned" come `result`, `collectives` (how often each was called), `sent` (bytes handed over) and `changed`
        (whether an argument was); with "raised" the type's name and the text.
    """
    # Here and not at the top: a worker without ranks does not pay for it. Before the fork, so that it is paid for once.
    importlib.import_module(_DISTRIBUTED)
    with tempfile.TemporaryDirectory() as folder:
        pids = [_start(function, args, rank, len(each), folder) for rank, args in enumerate(each)]
        for pid in pids:
            os.waitpid(pid, 0)
        return [_read(os.path.join(folder, str(rank))) for rank in range(len(each))]


def _start(function: Callable[..., Any], args: list[Any], rank: int, size: int, folder: str) -> int:
    """A child that is one rank, and writes its answer into the folder; its process id."""
    pid = os.fork()
    if pid:
        return pid
    # From here on in the child, which never comes back.
    try:
        answer = _answer(function, args, rank, size, folder)
        torch.save(answer, os.path.join(folder, str(rank)))
    finally:
        os._exit(0)


def _answer(function: Callable[..., Any], args: list[Any], rank: int, size: int, folder: str) -> dict[str, Any]:
    """What became of the call on this rank."""
    dist = importlib.import_module(_DISTRIBUTED)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK=str(rank))
    store = dist.FileStore(os.path.join(folder, "store"), size)
    timeout = datetime.timedelta(seconds=_TIMEOUT_S)
    before = [arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args]
    try:
        dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=timeout)
        result, cost = count(function, args, {})
    except Exception as error:  # whatever student code raises is told, with its type
        if any(words in str(error).lower() for words in _WAITED):
            return {"ended": "waits"}
        return {"ended": "raised", "raised": [type(error).__name__, str(error)[:_MOST_TEXT]]}
    pairs = [pair for pair in zip(before, args, strict=True) if isinstance(pair[0], torch.Tensor)]
    changed = not all(old.shape == new.shape and torch.equal(old.nan_to_num(), new.nan_to_num()) for old, new in pairs)
    if isinstance(result, torch.Tensor):
        result = result.detach().clone()  # not the storage behind a view
    elif not isinstance(result, _PLAIN):
        result = f"<{type(result).__name__}>"
    return {
        "ended": "returned",
        "result": result,
        "collectives": cost["collectives"],
        "sent": cost["sent"],
        "changed": changed,
    }


def _read(path: str) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = torch.load(path, weights_only=True)
    except (OSError, RuntimeError):  # there is none, or a part of one
        return {"ended": "died"}
    return answer
