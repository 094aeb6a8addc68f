"""Repeatable randomness

To repeat a training, its random weights and the random split of its data must follow from a seed. To continue it after
a stop, one must know the state of its generator. `torch.manual_seed(5)` changes the generator that the whole program
draws from. One of your own, `torch.Generator().manual_seed(5)`, disturbs nobody: pass it on as `generator=`.

    split(5, 3, seed=1)  may give  (tensor([0, 4, 2]), tensor([3, 1])), three places of five, and the other two

C1  `weights(shapes, seed)` returns a list with a float32 tensor for each shape, a tuple of any number of sizes. Its
    numbers are normal with mean 0 and standard deviation 0.02.
C2  `split(n, k, seed)` returns a tuple of two int64 vectors, in random order: k of the numbers from 0 to n - 1, and all
    others, each exactly once.
C3  `noisy(t, seed)` returns t plus numbers uniform in [0, 1), a new one for each element, in the shape of t. The result
    has the dtype of t if that is a floating-point one, else float32.
C4  `refill_(t, seed)` overwrites t, floats of any shape and strides, with numbers uniform in [0, 1), and returns t.
C5  `carry_on(state, k)`: state is what `get_state()` of some generator returned. Return a tuple: the k numbers that
    `torch.rand` draws next from there, and the state of the generator after that.
C6  Equal arguments give equal results, and different seeds give different results. The tensors of one list differ, too.
C7  No call changes the state of a global generator: PyTorch's, Python's or NumPy's.
C8  shapes and state are not changed, and neither is t in `noisy`.

Seeds are ints from 0 to 2**32 - 1, and 0 <= k <= n. Tensors require no gradient, floats have 16 bits or more, and no
two elements of t in C4 share memory. No number in C4 is 1.0, not even in 16 bits.
"""

import torch


def weights(shapes: list[tuple[int, ...]], seed: int) -> list[torch.Tensor]:
    raise NotImplementedError  # TODO: normal numbers, one tensor for each shape


def split(n: int, k: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    raise NotImplementedError  # TODO: each number once


def noisy(t: torch.Tensor, seed: int) -> torch.Tensor:
    raise NotImplementedError  # TODO: uniform noise, also for ints


def refill_(t: torch.Tensor, seed: int) -> torch.Tensor:
    raise NotImplementedError  # TODO: in the memory of t


def carry_on(state: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    raise NotImplementedError  # TODO: the next numbers, and where that leads
