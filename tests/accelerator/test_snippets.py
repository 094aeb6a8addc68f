"""What people write about devices, and what CUDA makes of it: a table of snippets, all run in one process."""

from __future__ import annotations

import contextlib
import copy
import doctest
import gc
import io
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.utils.checkpoint
from accelerator.modes import in_mode

TEXT = Path(__file__).with_name("snippets.txt").read_text(encoding="utf-8")
SNIPPETS = doctest.DocTestParser().get_examples(TEXT)


def outcome(snippet: doctest.Example, known: dict[str, Any]) -> str:
    """What a snippet prints, or its error."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            exec(compile(snippet.source, "<snippet>", "single"), known)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return printed.getvalue()


def agrees(snippet: doctest.Example, found: str) -> bool:
    """Whether it is what the table says."""
    if snippet.exc_msg is not None:
        return found.startswith(snippet.exc_msg.strip())
    return found == snippet.want


@in_mode("cuda")
def test_snippets_do_what_they_do_on_cuda() -> None:
    """Each prints, or raises, what the table says."""
    warnings.simplefilter("ignore")
    known: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "np": np, "copy": copy}
    known |= {"io": io, "gc": gc, "pickle": pickle}
    assert sum(bool(snippet.want) for snippet in SNIPPETS) >= 150
    wrong = []
    for snippet in SNIPPETS:
        found = outcome(snippet, known)
        if not agrees(snippet, found):
            asked = snippet.exc_msg or snippet.want
            wrong.append(f"line {snippet.lineno + 1}: {snippet.source}  asked: {asked}  found: {found}")
    assert not wrong, "\n".join(wrong)
