"""Any tensor to NumPy

A logger plots every tensor of a training: weights that require a gradient, activations on a GPU, losses in bfloat16.
`t.numpy()` refuses these. PyTorch refuses a mirrored picture, and warns of a read-only one. Write two functions that
take anything, and copy only if they must.

    >>> to_numpy(torch.tensor([1.0, 2.0], dtype=torch.bfloat16, requires_grad=True))
    array([1., 2.], dtype=float32)
    >>> to_tensor(np.arange(3)[::-1])
    tensor([2, 1, 0])

C1  `to_numpy(t)` returns a NumPy array with the shape and the numbers of t: a dense tensor on any device, of bfloat16
    or a dtype of NumPy's, which may require a gradient, be the result of a computation, or come from `conj()`, also as
    `t.conj().imag`.
C2  The array has the dtype of t. bfloat16, which NumPy lacks, becomes float32.
C3  The array shares the memory of t where that is possible: on the CPU, unless t is bfloat16 or comes from `conj()`.
C4  t stays as it is: its numbers, `requires_grad`, `grad` and its graph.
C5  From a device, t is copied once, in the dtype that it has there.
C6  `to_tensor(a)` returns a CPU tensor with the shape, numbers and dtype of an array. It may have negative strides or
    be read-only. No warning appears, and none is silenced.
C7  The tensor shares the memory of a if a is writable and no stride is negative. Otherwise it has its own memory. a
    stays as it is.

Arrays have PyTorch's dtypes in the machine's byte order, and strides of whole elements.
"""

import numpy as np
import torch


def to_numpy(t: torch.Tensor) -> np.ndarray:
    raise NotImplementedError  # TODO: any tensor


def to_tensor(a: np.ndarray) -> torch.Tensor:
    raise NotImplementedError  # TODO: any array
