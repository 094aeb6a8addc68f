"""Lines that make the calls of a failing shown check again in plain Python, with the same arguments.

Arguments keep their memory: a slice of a thousand zeros is written as that, and arguments that share memory still share
it. Arguments that cannot be written like this, such as large ones, have no lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from grader.check.show import WHOLE, as_source
from grader.connection.connection import is_proxy
from grader.connection.record import Call
from grader.model import Device
from grader.wire.decode import copies
from grader.wire.memory import place_of

_MOST_CALLS = 3


@dataclass(frozen=True)
class Written:
    """Values as Python text.

    Attributes:
        setup: lines that come first, for memory that several values share.
        texts: of the values.
    """

    setup: list[str]
    texts: list[str]


def written(values: Sequence[Any]) -> Written | None:
    """Text that makes these values again, with their memory; None if it would not."""
    leaves = list(_leaves(values))
    places = [place_of(leaf) for leaf in leaves]
    setup: list[str] = []
    memories: dict[tuple[int, int], str] = {}
    for leaf, (start, end) in zip(leaves, places, strict=True):
        others = [place for place in places if place[0] < end and start < place[1]]
        if isinstance(leaf, np.ndarray):
            if len(others) > 1 or not (leaf.flags.c_contiguous or leaf.flags.f_contiguous):
                return None
        elif (len(others) > 1 or _is_window(leaf) or not _is_plain(leaf)) and (start, end) not in memories:
            if any(place != (start, end) for place in others):
                return None
            text = _memory_source(leaf)
            if text is None:
                return None
            name = memories[start, end] = f"memory{len(memories) + 1 if memories else ''}"
            setup.append(f"{name} = {text}")

    def window(tensor: torch.Tensor) -> str | None:
        name = memories.get(place_of(tensor)) if tensor.numel() else None
        return None if name is None else _window_source(tensor, name)

    texts = [as_source(value, window) for value in values]
    return Written(setup, [str(text) for text in texts]) if None not in texts else None


def remade(*values: Any) -> tuple[Any, ...]:
    """The values made anew from their text, as a student makes them; those without text are copied, proxies stay."""
    text = written([value for value in values if not is_proxy(value)])
    if text is None:
        return copies(*values)
    names: dict[str, Any] = {"torch": torch, "np": np}
    # Text of a check's values, none of a worker's.
    exec("\n".join(text.setup), names)  # noqa: S102
    made = (eval(each, names) for each in text.texts)  # noqa: S307
    return tuple(value if is_proxy(value) else next(made) for value in values)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return [value] if value.size else [] if isinstance(value, np.ndarray) else [value] if value.numel() else []
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple, set)) else ()
    return [leaf for item in items for leaf in _leaves(item)]


def _is_window(tensor: torch.Tensor) -> bool:
    """Whether a tensor lies in more memory than its elements need."""
    return tensor.untyped_storage().nbytes() != tensor.numel() * tensor.itemsize


def _is_plain(tensor: torch.Tensor) -> bool:
    """Whether its text has its strides."""
    return tensor.is_contiguous() or (tensor.dim() == 2 and tensor.T.is_contiguous())


def _memory_source(tensor: torch.Tensor) -> str | None:
    """Text that makes the whole memory of a tensor."""
    count = tensor.untyped_storage().nbytes() // tensor.itemsize
    plain = tensor.detach().resolve_conj().resolve_neg()
    if tensor.is_conj() or tensor.is_neg() or count * tensor.itemsize != tensor.untyped_storage().nbytes():
        return None
    whole = plain.as_strided((count,), (1,), 0)
    if count <= WHOLE:
        return as_source(whole.clone())
    first = whole[0]
    if not bool((whole == first).all()):
        return None
    return f"torch.full(({count},), {first.item()!r}, dtype={tensor.dtype})"


def _window_source(tensor: torch.Tensor, name: str) -> str:
    """A tensor as a window on its memory, which has a name."""
    offset, shape, strides = int(tensor.storage_offset()), tuple(tensor.shape), tuple(tensor.stride())
    if tensor.dim() == 1 and strides == (1,):
        end = offset + shape[0]
        count = tensor.untyped_storage().nbytes() // tensor.itemsize
        return name if shape[0] == count else f"{name}[{offset or ''}:{end if end < count else ''}]"
    return f"{name}.as_strided({shape}, {strides}, {offset})"


@dataclass(frozen=True)
class Lines:
    """What a student can type.

    Attributes:
        heading: what they show, and where they run.
        imports: lines that come first.
        body: lines that make the calls.
    """

    heading: str
    imports: list[str]
    body: list[str]

    def __str__(self) -> str:
        """The heading, and the lines below it."""
        return "\n".join([self.heading, *(f"    {line}" for line in (*self.imports, *self.body))])


def reproduce(module: str, calls: Sequence[Call], folder: str, device: Device = Device.NONE) -> Lines | None:
    """The last calls of a check as lines of Python; None if one of them cannot be written.

    Args:
        module: name of the exercise module.
        calls: what the check called.
        folder: where the lines run, as the student types it.
        device: what the worker saw.
    """
    # The last calls: a check ends at the first thing that does not hold, so the culprit is likely among them.
    body = []
    for call in calls[-_MOST_CALLS:]:
        text = written([*call.args, *call.kwargs.values()])
        if text is None:
            return None
        named = [f"{key}={value}" for key, value in zip(call.kwargs, text.texts[len(call.args) :], strict=True)]
        body += [*text.setup, f"print({call.name}({', '.join([*text.texts[: len(call.args)], *named])}))"]
    if not body:
        return None
    imports = ["import numpy as np"] if any("np." in line for line in body) else []
    imports += ["import torch"] if any("torch." in line for line in body) else []
    imports += ["from grader import accelerator", 'accelerator.enable("sim")'] if device is Device.SIM else []
    imports.append(f"from {module} import {', '.join(sorted({call.name for call in calls[-_MOST_CALLS:]}))}")
    place = f", in the folder {folder}" if folder not in ("", ".") else ""
    return Lines(f"To see it in plain Python{place}:", imports, body)
