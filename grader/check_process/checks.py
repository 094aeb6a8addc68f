"""Checks as they were collected: what is declared of each, and the values and inputs that each run gets afresh.

A check file is read once and serves every submission, and what a function writes into its argument is written into the
check's own tensor. So one submission could change the inputs of the next. Each run of a check gets copies of the values
at the top of its file, and of its parameters.

The inputs come from a keyed stream, from which what was drawn tells nothing of what comes. A generator of PyTorch's is
a Mersenne Twister with 32 bits of seed: two words of its output give the seed, and with it every later input. So its
whole state is drawn anew, from the seed of the author's inputs (256 bits in a batch), the check and a counter, each
time when a worker must do more than load. What student code sees was drawn before that.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import random
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from grader.check.declare import Rng
from grader.check_process.hidden_words import Words
from grader.lint.sizes import sizes_in
from grader.model import Check
from grader.model.course import PlannedExercise

_MUTABLE = (torch.Tensor, np.ndarray, list, dict, set)


class CheckFile:
    """A check file: the values at its top as they were when it was read, and what its hidden checks may say.

    Args:
        path: the path of the file.
        module: the module that it became.
        exercise: the exercise that the checks belong to.
    """

    def __init__(self, path: Path, module: ModuleType, exercise: PlannedExercise) -> None:
        self.path, self.exercise = path, exercise
        self.values = _copies_of_mutables(vars(module))

    @functools.cached_property
    def shown_sizes(self) -> frozenset[int]:
        """The numbers in the exercise's shown checks that may be sizes of dims.

        `sizes_in` finds them; `Rng.sizes` of a hidden check draws other sizes first.
        """
        shown = self.exercise.shown_checks
        return sizes_in(shown.read_text(encoding="utf-8", errors="replace")) if shown is not None else frozenset()

    @functools.cached_property
    def words(self) -> Words:
        """Return the words that messages of hidden checks may show.

        The files that have them are parsed when the words are first needed.
        """
        texts = [path.read_text(encoding="utf-8") for path in (self.path, *self.exercise.probes)]
        return Words(texts, [self.exercise.id], self.exercise.limits)


@dataclass(frozen=True)
class CollectedCheck:
    """One check with its pytest function.

    Attributes:
        check: the declaration of the check.
        item: the item of pytest that runs it.
        file: the check file that has it.
        parameters: the parameters of the check, as they were when the file was read.
        call_s: CPU seconds of one call, or None for the exercise's own limit.
    """

    check: Check
    item: pytest.Function
    file: CheckFile
    parameters: dict[str, Any]
    call_s: float | None

    @classmethod
    def of(cls, item: pytest.Function, file: CheckFile, *, shown: bool) -> CollectedCheck:
        """Make a `CollectedCheck` of an item of pytest's, with what `@check` declares.

        Args:
            item: the item, as pytest collected it.
            file: the check file that has it.
            shown: True if students have that file.
        """
        mark = item.get_closest_marker("graded")
        declared = dict(mark.kwargs) if mark is not None else {}
        call_s, shown = declared.pop("call_s", None), declared.pop("shown", None) or shown
        text = (item.function.__doc__ or "").strip().splitlines()
        title = text[0].rstrip(".") if text else item.name
        # Of a check with parameters pytest makes several, which need titles of their own.
        if "[" in item.name:
            title += f" [{item.name.split('[', 1)[1]}"
        check = Check(item.name.removeprefix("check_"), file.exercise.id, title, shown=shown, **declared)
        return cls(check, item, file, _copies_of_mutables(_parameters(item)), call_s)

    def renew_values(self) -> None:
        """Replace the values of the check file, and the check's parameters, by fresh copies.

        A submission that ran before may have mutated them. The values are those of names at the top of the file, as
        they were when it was collected. The copies share memory with each other as the originals do.
        """
        values, parameters = copy.deepcopy((self.file.values, self.parameters))
        vars(self.item.module).update(values)
        _parameters(self.item).update(parameters)


def _parameters(item: pytest.Function) -> dict[str, Any]:
    return item.callspec.params if hasattr(item, "callspec") else {}


def _copies_of_mutables(space: dict[str, Any]) -> dict[str, Any]:
    """Return copies of the values that a call could mutate, by name.

    These are tensors, arrays, lists, dicts and sets. Of `{"x": tensor, "n": 3}` only `x` is copied. Values that Python
    cannot copy are left out.
    """
    copies: dict[str, Any] = {}
    memo: dict[int, Any] = {}
    for name, value in space.items():
        if isinstance(value, _MUTABLE) and not name.startswith("__"):
            # A module among them, or a tensor within a graph, cannot be copied.
            with suppress(TypeError, RuntimeError):
                copies[name] = copy.deepcopy(value, memo)
    return copies


_WORDS = 624
_STATE_BYTES = 5056
_LEFT, _FIRST = 8, 24
_UPPER_BIT = np.uint64(0x80000000)  # beside an int of Python, NumPy 1 makes a uint64 a float


class InputStream:
    """The source of one check's random inputs, which the seed and the check decide.

    Args:
        seed: the seed of the author's inputs.
        check: the check that gets them.
        avoided: sizes that are drawn last.
    """

    def __init__(self, seed: int, check: Check, avoided: frozenset[int] = frozenset()) -> None:
        self._avoided = avoided
        self._key = hashlib.sha256(f"{seed}/{check.exercise}/{check.id}".encode()).digest()
        self._counter = 1
        self._rng: Rng | None = None  # most checks need none, and its states take long to make

    @property
    def rng(self) -> Rng:
        """The generator that draws from this stream."""
        if self._rng is None:
            self._rng = Rng()
            self._rng.avoided = self._avoided
            self._set_state(self._rng)
        return self._rng

    def renew(self) -> None:
        """Replace the state of the generator by one that is independent of all earlier draws.

        So a worker cannot compute later inputs from those that it got.
        """
        self._counter += 1
        if self._rng is not None:
            self._set_state(self._rng)

    def _set_state(self, rng: Rng) -> None:
        rng.set_state(self._twister(self._counter.to_bytes(8, "big")))

    def seed_global_generators(self) -> None:
        """Seed the global generators of PyTorch, NumPy and Python from this stream.

        They are those of this process. So a check that draws from them has the same inputs with the same seed, after
        any other check.
        """
        # PyTorch's by its state, since its seeds have 32 bits only; the others take all bits of a digest. Never the key
        # itself: what is drawn from a twister gives its seed away.
        torch.set_rng_state(self._twister(b"torch"))
        np.random.seed(np.frombuffer(self._digest(b"numpy"), "<u4").astype(np.uint32))
        random.seed(self._digest(b"python"))

    def reseed(self) -> bool:
        """Seed the global generators again, and return True if nothing was drawn from them.

        Draws count since the generators were seeded last.
        """
        states = _global_states()
        self.seed_global_generators()
        return states == _global_states()

    def _twister(self, name: bytes) -> torch.Tensor:
        return twister_state(hashlib.shake_256(self._key + name).digest(4 * _WORDS))

    def _digest(self, name: bytes) -> bytes:
        return hashlib.sha256(name + b"/" + self._key).digest()

    def workers_seed(self) -> int:
        """Return the seed for the generators of student code.

        It reveals nothing of what the check draws.
        """
        return int.from_bytes(self._digest(b"worker")[:6], "big")


def _global_states() -> tuple[object, ...]:
    numpys = np.random.get_state(legacy=False)["state"]
    return bytes(torch.get_rng_state().numpy()), bytes(numpys["key"]), numpys["pos"], random.getstate()


def twister_state(raw: bytes) -> torch.Tensor:
    """Return the state of PyTorch's CPU generator, a Mersenne Twister, with the words in `raw`.

    Args:
        raw: the 624 words of the state, of 4 bytes each.

    Raises:
        RuntimeError: PyTorch keeps the state in another form than the one that it has had since version 1.
    """
    state = _fresh_state().copy()
    words = np.frombuffer(raw, "<u4").astype("<u8")
    words[0] |= _UPPER_BIT  # all words zero is the one state that the twister never leaves
    state[_FIRST : _FIRST + 8 * _WORDS] = words.view(np.uint8)
    return torch.from_numpy(state)


@functools.cache
def _fresh_state() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the state of a new generator of PyTorch, as bytes.

    `twister_state` takes a copy of it and replaces the words.

    Raises:
        RuntimeError: PyTorch keeps the state in another form than the known one.
    """
    state: np.ndarray[Any, np.dtype[np.uint8]] = torch.Generator().get_state().numpy().copy()
    if state.nbytes != _STATE_BYTES:
        raise RuntimeError(f"PyTorch {torch.__version__} keeps a generator's state in a form that is not known here")
    # One word is left to be used: the first draw stirs the whole state before it gives any of it. Behind it: that it is
    # seeded, and which word is next.
    struct.pack_into("<iiQ", state.data, _LEFT, 1, 1, 0)
    return state
