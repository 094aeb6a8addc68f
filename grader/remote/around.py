"""What is around a call in a check, and would reach student code if it ran in the check's process.

Seeds are told to the worker. Warnings and prints are told by it where the check listens: in `pytest.warns`, in
`redirect_stdout`. What cannot be handed on is refused: a check that rests on it would be right about nothing.
"""

from __future__ import annotations

import random
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from grader.remote.errors import public_error
from grader.remote.holding import holding
from grader.wire.bounds import ProtocolFault, Unsupported
from grader.wire.handles import Origin, Remote
from grader.wire.raised_rows import KindRow

if TYPE_CHECKING:
    from grader.remote.side import Side

_MOST_WARNINGS = 100
_seeded: dict[str, int] = {}
"""How often each of the generators was seeded in this process."""

_SEEDS = (
    ("torch", torch, "manual_seed"),
    ("torch", torch.random, "manual_seed"),
    ("random", random, "seed"),
    ("numpy", np.random, "seed"),
)
_STATES: Mapping[str, Callable[[], Any]] = {
    "torch": lambda: [torch.initial_seed(), bytes(torch.get_rng_state().tolist()).decode("latin-1")],
    "numpy": lambda: _listed(np.random.get_state(legacy=True)),
    "random": lambda: _listed(random.getstate()),
}


def note_seeds() -> None:
    """From now on, note when PyTorch's generator, Python's or NumPy's is seeded."""
    for name, module, word in _SEEDS:
        setattr(module, word, _noting(name, getattr(module, word)))


def _noting(name: str, seed: Callable[..., Any]) -> Callable[..., Any]:
    def noting(*args: Any, **kwargs: Any) -> Any:
        _seeded[name] = _seeded.get(name, 0) + 1
        return seed(*args, **kwargs)

    return noting


def _listed(state: Any) -> Any:
    if isinstance(state, (tuple, list, np.ndarray)):
        return [_listed(item) for item in (state.tolist() if isinstance(state, np.ndarray) else state)]
    return state


class Around:
    """What is around the calls of one side, compared with what was there when its check began."""

    def __init__(self) -> None:
        self.listens = True
        self.begin()

    def begin(self) -> None:
        """A check begins."""
        self._seeded = dict(_seeded)
        self._filters, self._out, self._err = warnings.filters, sys.stdout, sys.stderr
        self._holding = holding()
        self._thread = threading.get_ident()

    def seeded(self) -> dict[str, Any]:
        """The states of the generators that the check has seeded since it asked last."""
        again = [name for name, times in _seeded.items() if times != self._seeded.get(name)]
        self._seeded = dict(_seeded)
        return {name: _STATES[name]() for name in again}

    def is_heard(self) -> bool:
        """Whether the check listens to what is printed, or has a say in what becomes of warnings."""
        return self.listens and (sys.stdout, sys.stderr, warnings.filters) != (self._out, self._err, self._filters)

    def refuse(self) -> None:
        """Refuse what would not reach student code.

        Raises:
            Unsupported: there is such a thing.
        """
        if threading.get_ident() != self._thread:
            raise Unsupported("student code is asked by one thread, the check's own: what runs at once is a probe")
        if (found := holding()) == self._holding:
            return
        for (what, now), before in zip(found.items(), self._holding.values(), strict=True):
            if now != before:
                raise Unsupported(
                    f"{what} holds in the check's process alone, and student code runs in another: let a function of "
                    "the probe file do that and call the student's function"
                )

    def tell(self, side: Side, told: Any) -> None:
        """Print what was printed, and warn as was warned, where the check listens."""
        match told:
            case [str(out), str(err), list(rows)]:
                if sys.stdout is not self._out:
                    sys.stdout.write(out)
                if sys.stderr is not self._err:
                    sys.stderr.write(err)
                if warnings.filters is not self._filters:
                    for row in rows[:_MOST_WARNINGS]:
                        _warn(side, row)


def _warn(side: Side, row: Any) -> None:
    match row:
        case [str(builtin), list(family), str(text)]:
            try:
                kind = side.errors.kind(KindRow.family(family)) or public_error(f"builtins.{builtin}")
            except ProtocolFault:
                return
            if kind is not None and issubclass(kind, Warning):
                # With a registry of its own: of equal ones Python tells the first alone.
                warnings.warn_explicit(text, kind, "student", 1, registry={})


@contextmanager
def heard(side: Side) -> Iterator[None]:
    """Around a call: what it prints and warns of is heard by a check that listens."""
    around = side.around
    listen, hear = (Remote(Origin(side, ["named", "probe:", name], name)) for name in ("listen", "heard"))
    around.listens, told = False, None
    try:
        side.send(listen, (), {}, "the grader")
        try:
            yield
        finally:
            if side.sitting.worker is not None:
                told = side.send(hear, (), {}, "the grader")
    finally:
        around.listens = True
        around.tell(side, told)
