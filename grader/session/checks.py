"""Checks as they were collected: what is declared of each, and what each run of it gets anew: values and inputs.

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
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from grader.check.declare import Rng
from grader.model import Check

_CHANGEABLE = (torch.Tensor, np.ndarray, list, dict, set)


@dataclass(frozen=True)
class CollectedCheck:
    """One check with its pytest function.

    Attributes:
        check: what is declared of it.
        item: runs it.
        call_s: CPU seconds of one call, or None for the exercise's own limit.
    """

    check: Check
    item: pytest.Function
    call_s: float | None


def collected_check(item: pytest.Function, exercise: str, *, shown: bool) -> CollectedCheck:
    """A check as it was collected.

    Args:
        item: the pytest function.
        exercise: its id.
        shown: whether its file lies among what students have.
    """
    mark = item.get_closest_marker("graded")
    declared = dict(mark.kwargs) if mark is not None else {}
    call_s, shown = declared.pop("call_s", None), declared.pop("shown", None) or shown
    text = (item.function.__doc__ or "").strip().splitlines()
    title = text[0].rstrip(".") if text else item.name
    # Of a check with parameters pytest makes several, which need titles of their own.
    if "[" in item.name:
        title += f" [{item.name.split('[', 1)[1]}"
    check = Check(item.name.removeprefix("check_"), exercise, title, shown=shown, **declared)
    return CollectedCheck(check, item, call_s)


class Values:
    """The values of one check file, as they were when it was read, and the parameters of its checks.

    Args:
        module: the check file's.
    """

    def __init__(self, module: ModuleType) -> None:
        self._space = vars(module)
        self._values = _changeable(self._space)
        self._parameters: dict[pytest.Function, dict[str, Any]] = {}

    def keep(self, item: pytest.Function) -> None:
        """Note the parameters of a check."""
        self._parameters[item] = _changeable(_parameters(item))

    def renew(self, item: pytest.Function) -> None:
        """Give a check copies of all of them, which share memory among each other as the originals do."""
        values, parameters = copy.deepcopy((self._values, self._parameters[item]))
        self._space.update(values)
        _parameters(item).update(parameters)


def _parameters(item: pytest.Function) -> dict[str, Any]:
    return item.callspec.params if hasattr(item, "callspec") else {}


def _changeable(space: dict[str, Any]) -> dict[str, Any]:
    """Those values that a call could write into, copied; what Python cannot copy is left out."""
    values = {name: value for name, value in space.items() if isinstance(value, _CHANGEABLE) and name[:2] != "__"}
    copies: dict[str, Any] = {}
    memo: dict[int, Any] = {}
    for name, value in values.items():
        try:
            copies[name] = copy.deepcopy(value, memo)
        except (TypeError, RuntimeError):  # a module among them, a tensor within a graph
            continue
    return copies


# -- inputs ------------------------------------------------------------------------------------------------------------

_WORDS = 624
_STATE_BYTES = 5056
_LEFT, _SEEDED, _NEXT, _FIRST = slice(8, 12), slice(12, 16), slice(16, 24), 24
_UPPER_BIT = 0x80000000


class InputStream:
    """The stream of one check's inputs.

    Args:
        seed: of the author's inputs.
        check: whose they are.
    """

    def __init__(self, seed: int, check: Check) -> None:
        self._key = hashlib.sha256(f"{seed}/{check.exercise}/{check.id}".encode()).digest()
        self._counter = 1
        self._rng: Rng | None = None  # most checks need none, and its states take long to make

    @property
    def rng(self) -> Rng:
        """The generator that draws from this stream."""
        if self._rng is None:
            self._rng = Rng()
            self._set_state(self._rng)
        return self._rng

    def renew(self) -> None:
        """Go on with a state that is independent of all that was drawn before."""
        self._counter += 1
        if self._rng is not None:
            self._set_state(self._rng)

    def _set_state(self, rng: Rng) -> None:
        rng.set_state(twister_state(self._drawn(self._counter.to_bytes(8, "big"))))

    def begin_others(self) -> None:
        """Let this process's own generators, of PyTorch, NumPy and Python, begin anew from this stream.

        So a check that draws from them has the same inputs with the same seed, after any other check.
        """
        # PyTorch's by its state, since its seeds have 32 bits only; the others take all bits of a digest. Never the key
        # itself: what is drawn from a twister gives its seed away.
        torch.set_rng_state(self._of_torch())
        np.random.seed(self._words_of(b"numpy"))
        random.seed(self._digest(b"python"))

    def are_others_untouched(self) -> bool:
        """Whether nothing was drawn from these since."""
        _, words, place, *_ = np.random.get_state(legacy=True)
        _, fresh, start, *_ = np.random.RandomState(self._words_of(b"numpy")).get_state(legacy=True)
        return (
            torch.equal(torch.get_rng_state(), self._of_torch())
            and (place == start and np.array_equal(words, fresh))
            and random.getstate() == random.Random(self._digest(b"python")).getstate()  # noqa: S311  it is that one
        )

    def _of_torch(self) -> torch.Tensor:
        return twister_state(self._drawn(b"torch"))

    def _digest(self, name: bytes) -> bytes:
        return hashlib.sha256(name + b"/" + self._key).digest()

    def _words_of(self, name: bytes) -> np.ndarray[Any, np.dtype[np.uint32]]:
        return np.frombuffer(self._digest(name), "<u4").astype(np.uint32)

    def _drawn(self, name: bytes) -> bytes:
        return hashlib.shake_256(self._key + name).digest(4 * _WORDS)

    def workers_seed(self) -> int:
        """The seed of student code's own generators, which reveals nothing of what the check draws."""
        return int.from_bytes(self._digest(b"worker")[:6], "big")


def twister_state(raw: bytes) -> torch.Tensor:
    """The state of a generator of PyTorch's on the CPU whose words are these.

    Args:
        raw: 4 times 624 bytes.

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
    """A state that is seeded and nothing was drawn from, but for its words."""
    state: np.ndarray[Any, np.dtype[np.uint8]] = torch.Generator().get_state().numpy().copy()
    if state.nbytes != _STATE_BYTES:
        raise RuntimeError(f"PyTorch {torch.__version__} keeps a generator's state in a form that is not known here")
    # One word is left to be used: the first draw stirs the whole state before it gives any of it.
    state[_LEFT] = np.array([1], "<i4").view(np.uint8)
    state[_SEEDED] = np.array([1], "<i4").view(np.uint8)
    state[_NEXT] = np.array([0], "<u8").view(np.uint8)
    return state
