"""Lines that reproduce a failing shown check in plain Python, so that a debugger works."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from grader.check.show import as_source
from grader.check.student import Call

_MOST_CALLS = 3


@dataclass(frozen=True)
class Keep:
    """Where inputs that are too large to print are kept.

    Attributes:
        folder: on disk.
        shown: as a student types it.
        run_in: the folder in which the lines run, as a student types it.
    """

    folder: Path
    shown: str
    run_in: str


def reproduce(module: str, check: str, calls: Sequence[Call], keep: Keep | None) -> str:
    """A heading and Python lines that make the last calls of a check again; "" if there were none."""
    if not calls:
        return ""
    body, imports = [], set()
    for number, call in enumerate(calls[-_MOST_CALLS:], 1):
        parts = [_argument(value, f"{check}-{number}-{i}", keep) for i, value in enumerate(call.args)]
        parts += [f"{name}={_argument(value, f'{check}-{number}-{name}', keep)}" for name, value in call.kwargs.items()]
        body.append(f"print({call.name}({', '.join(parts)}))")
    text = "\n".join(body)
    imports = {f"import {name}" for name in ("torch",) if re.search(r"\btorch\.", text)}
    imports |= {"import numpy as np"} if re.search(r"\bnp\.", text) else set()
    names = ", ".join(sorted({call.name for call in calls[-_MOST_CALLS:]}))
    lines = [*sorted(imports), f"from {module} import {names}", *body]
    place = f", in the folder {keep.run_in}" if keep and keep.run_in != "." else ""
    return "\n".join([f"To see it in plain Python{place}:", *(f"    {line}" for line in lines)])


def _argument(value: Any, name: str, keep: Keep | None) -> str:
    text = as_source(value)
    if text is not None:
        return text
    if keep is None or not isinstance(value, (torch.Tensor, np.ndarray)):
        return "..."
    safe = re.sub(r"[^A-Za-z0-9_-]+", "_", name)
    keep.folder.mkdir(parents=True, exist_ok=True)
    if isinstance(value, torch.Tensor):
        torch.save(value.detach().requires_grad_(value.requires_grad), keep.folder / f"{safe}.pt")
        return f'torch.load("{keep.shown}/{safe}.pt")'
    np.save(keep.folder / f"{safe}.npy", value)
    return f'np.load("{keep.shown}/{safe}.npy")'
