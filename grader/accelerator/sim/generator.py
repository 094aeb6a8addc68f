"""Random numbers of simulated devices: a generator for each device, and the class that replaces `torch.Generator`."""

from __future__ import annotations

import copy
import sys
import weakref
from collections.abc import Sequence
from typing import Any, NoReturn

import torch

from grader.accelerator.refusals import refusal

# Kept before `torch.Generator` is replaced.
_Original = torch._C.Generator
# Where every new generator of PyTorch starts.
_CUDA_DEFAULT_SEED = 67280421310721
_NEW_SEED = (
    "CUDAGeneratorImpl::set_current_seed can be called during stream capture only if new seed is the same as the "
    "original seed."
)
_OFFSET = "a generator of the simulated device has no offset; its get_state and set_state keep and restore where it is"

# Weak, so that a generator goes when the program drops it; another one may get its address then.
OWNERS: weakref.WeakValueDictionary[int, SimGenerator] = weakref.WeakValueDictionary()
"""The generators of devices by their addresses, which operators hand over in another Python object."""


_SEED_BYTES = 8
_STATE_BYTES = _Original().get_state().numel() + _SEED_BYTES
"""The size of a state; it differs from the CPU's, as on CUDA, where a state has 16 bytes."""


def _bytes_of(seed: int) -> torch.Tensor:
    return torch.tensor(list((seed % (1 << 64)).to_bytes(_SEED_BYTES, sys.byteorder)), dtype=torch.uint8)


class SimGenerator(_Original):
    """A generator whose numbers go to a simulated device.

    Its stream is not that of a CPU generator with the same seed, as on a GPU; it is the same on each index.
    """

    device: Any = None
    capturing = False
    """Whether a graph is captured, whose replays go on from where a generator is by then."""
    salt = 0x9E3779B97F4A7C15
    """Added to every seed, so that a device and the CPU draw different numbers from the same one."""

    def __new__(cls, device: torch.device) -> SimGenerator:
        """Make a generator of a device, given by its public name and its index, such as `cuda:0`."""
        # It is a generator of the CPU, since the CPU's kernels draw from it; what differs is the seed and the name.
        made = super().__new__(cls)
        made.device = device
        made.manual_seed(_CUDA_DEFAULT_SEED)
        OWNERS[made._cdata] = made  # type: ignore[attr-defined]
        return made

    def __init__(self, device: torch.device) -> None:
        pass

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"

    def manual_seed(self, seed: int) -> SimGenerator:
        """Set the seed, and return the generator."""
        if SimGenerator.capturing and int(seed) != getattr(self, "_seed", seed):
            raise RuntimeError(_NEW_SEED)
        self._seed = int(seed)
        super().manual_seed((self._seed + self.salt) % (1 << 64))
        return self

    def seed(self) -> int:
        """Set a random seed, and return it."""
        seed = torch._C.Generator().seed()
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """Return the seed that was set last."""
        return self._seed

    def get_state(self) -> torch.Tensor:
        """Return the state and the seed as a tensor of bytes.

        The `set_state` of a CPU generator does not take this tensor.
        """
        return torch.cat([cpu_state_of(self), _bytes_of(self._seed)])

    def set_state(self, state: torch.Tensor) -> SimGenerator:
        """Set the state to one that `get_state` returned, and return the generator.

        Raises:
            TypeError: `state` is not a tensor of bytes on the CPU.
            RuntimeError: `state` has another size than the state of a `SimGenerator`; the message is PyTorch's.
        """
        if not isinstance(state, torch.Tensor) or state.dtype is not torch.uint8 or state.device.type != "cpu":
            raise TypeError("RNG state must be a torch.ByteTensor")
        if state.numel() != _STATE_BYTES:
            raise RuntimeError("RNG state is wrong size")
        set_cpu_state(self, state[:-_SEED_BYTES])
        self._seed = int.from_bytes(state[-_SEED_BYTES:].tolist(), sys.byteorder)
        return self

    def clone_state(self) -> SimGenerator:
        """Return a new generator with the same seed and state."""
        return copy.copy(self)

    def __reduce__(self) -> Any:
        # PyTorch's own would make a copy for the CPU.
        return torch.Generator, (self.device,), (self._seed, self.get_state())

    def __setstate__(self, state: Any) -> None:
        seed, numbers = state
        self.manual_seed(seed)
        self.set_state(numbers)

    def get_offset(self) -> NoReturn:
        """Raise `NotImplementedError`: a simulated generator has no Philox offset."""
        raise refusal(_OFFSET)

    def set_offset(self, offset: int) -> NoReturn:
        """Raise `NotImplementedError`, as `get_offset` does."""
        raise refusal(_OFFSET)


def cpu_state_of(generator: torch.Generator) -> torch.Tensor:
    """Return the state of a generator in a form that a CPU generator can be set to.

    It lacks the seed that `SimGenerator.get_state` adds.
    """
    return _Original.get_state(generator)


def set_cpu_state(generator: torch.Generator, numbers: torch.Tensor) -> None:
    """Set the state of a generator to one that `cpu_state_of` returned."""
    _Original.set_state(generator, numbers)


ALWAYS_DRAW = {"poisson", "multinomial", "binomial", "_standard_gamma", "_sample_dirichlet"}
"""Operators that check their generator even if their result has no elements."""


def makes_empty_tensor(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Return True if a random function would return or fill a tensor without elements.

    This is so for `torch.rand` with the arguments `((0, 3),)`. No random numbers are drawn to find out. PyTorch does
    not check the generator of such a call.

    Args:
        function: a function of `torch`.
        args: its arguments.
        kwargs: its arguments by name.
    """
    if given := [arg for arg in args if isinstance(arg, torch.Tensor)]:
        return all(tensor.numel() == 0 for tensor in given)
    # Without memory a tensor has its sizes, and no numbers to draw.
    named = {name: value for name, value in kwargs.items() if name != "out"}
    made: torch.Tensor = function(*args, **{**named, "device": "meta", "generator": None})
    return made.numel() == 0


class _GeneratorMeta(type):
    # Generators of the CPU, and those that C++ makes, are of the original class and must pass as well.
    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, _Original)


def generator_type(make: Any) -> type:
    """Return the class that replaces `torch.Generator`.

    With it, `torch.Generator("cuda")` is a `SimGenerator`, and `torch.Generator()` is PyTorch's own for the CPU.

    Args:
        make: a function of the device argument that returns a `SimGenerator`, or None if the device is not simulated.
    """

    class Generator(metaclass=_GeneratorMeta):
        def __new__(cls, device: Any = "cpu") -> Any:
            return make(device) or _Original(device)

    Generator.__module__, Generator.__qualname__ = "torch", "Generator"
    return Generator
