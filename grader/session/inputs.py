"""Where a check's inputs come from: a keyed stream, from which what was drawn tells nothing of what comes.

A generator of PyTorch's is a Mersenne Twister with 32 bits of seed: two words of its output give the seed, and with it
every later input. So its whole state is drawn anew, from the seed of the author's inputs (256 bits in a batch), the
check and a counter, each time when a worker is asked for more than to load. What student code sees was drawn before
that.
"""

from __future__ import annotations

import functools
import hashlib
import random
from typing import Any

import numpy as np
import torch

from grader.check.declare import Rng
from grader.model import Check

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
        self._counter = 0
        self.rng = Rng()
        self.renew()

    def renew(self) -> None:
        """Go on with a state of which nothing that was drawn before tells anything."""
        self._counter += 1
        self.rng.set_state(twister_state(self._drawn(self._counter.to_bytes(8, "big"))))

    def begin_others(self) -> None:
        """Let this process's own generators, of PyTorch, NumPy and Python, begin anew from this stream.

        So a check that draws from them has the same inputs with the same seed, whatever ran before.
        """
        # By their states: a seed has fewer bits, and that a check seeds one is noted.
        torch.set_rng_state(twister_state(self._drawn(b"torch")))
        np.random.set_state(("MT19937", np.frombuffer(self._drawn(b"numpy"), "<u4").astype(np.uint32), _WORDS, 0, 0.0))
        random.setstate((3, (*np.frombuffer(self._drawn(b"python"), "<u4").tolist(), _WORDS), None))

    def _drawn(self, name: bytes) -> bytes:
        return hashlib.shake_256(self._key + name).digest(4 * _WORDS)

    def workers_seed(self) -> int:
        """What student code's own generators are seeded with: from it nobody can tell what the check draws."""
        return int.from_bytes(hashlib.sha256(b"worker/" + self._key).digest()[:6], "big")


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
