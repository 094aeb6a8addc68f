"""Lines that reproduce a failing shown check in plain Python, so that a debugger works."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from grader.check.show import as_source, placed_source
from grader.jobs import Keep
from grader.model import Device
from grader.remote.journal import Call

_MOST_CALLS = 3


def reproduce(module: str, check: str, calls: Sequence[Call], keep: Keep | None, device: Device = Device.NONE) -> str:
    """A heading and Python lines that make the last calls of a check again; "" if none can be written.

    Args:
        module: name of the exercise module.
        check: the check's id.
        calls: what the check called.
        keep: where large inputs are kept, if anywhere.
        device: what the worker saw.
    """
    # The last calls: a check ends at the first thing that does not hold, so the culprit is likely among them.
    written = [
        (call.name, _line(call, f"{check}-{number}", keep)) for number, call in enumerate(calls[-_MOST_CALLS:], 1)
    ]
    body = [line for _, line in written if line]
    if not body:
        return ""
    imports = ["import numpy as np"] if any("np." in line for line in body) else []
    imports += ["import torch"] if any("torch." in line for line in body) else []
    names = ", ".join(sorted({name for name, line in written if line}))
    place = f", in the folder {keep.run_in}" if keep and keep.run_in != "." else ""
    imports += ["from grader import accelerator", 'accelerator.enable("sim")'] if device is Device.SIM else []
    lines = [*imports, f"from {module} import {names}", *body]
    return "\n".join([f"To see it in plain Python{place}:", *(f"    {line}" for line in lines)])


def _line(call: Call, name: str, keep: Keep | None) -> str | None:
    """One call, or None if an argument can be neither written nor kept."""
    parts = [_argument(value, f"{name}-{number}", keep) for number, value in enumerate(call.args)]
    named = [(key, _argument(value, f"{name}-{key}", keep)) for key, value in call.kwargs.items()]
    if None in parts or None in dict(named).values():
        return None
    return f"print({call.name}({', '.join([*map(str, parts), *(f'{key}={text}' for key, text in named)])}))"


def _argument(value: Any, name: str, keep: Keep | None) -> str | None:
    text = as_source(value)
    if text is not None or keep is None or not isinstance(value, (torch.Tensor, np.ndarray)):
        return text
    # A check's id holds its parameters, which may be any text; this becomes a file name.
    safe = re.sub(r"[^A-Za-z0-9_-]+", "_", name)
    try:
        keep.folder.mkdir(parents=True, exist_ok=True)
        if isinstance(value, torch.Tensor):
            with (keep.folder / f"{safe}.pt").open("wb") as file:
                torch.save(value.detach(), file)
            return placed_source(value, f'torch.load("{keep.shown}/{safe}.pt")')
        np.save(keep.folder / f"{safe}.npy", value)
    except OSError:  # a folder that cannot be written to: the lines are left out, the verdict is the same
        return None
    return f'np.load("{keep.shown}/{safe}.npy")'
