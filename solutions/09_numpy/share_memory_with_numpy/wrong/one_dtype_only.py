"""You answer False where the dtypes differ; the same bytes can be seen as numbers of two dtypes.

caught by: bytes
keeps: tensor_view, array_view
"""

import numpy as np
from torch import Tensor


def shares(a: np.ndarray, t: Tensor) -> bool:
    return a.dtype == t.numpy().dtype and np.shares_memory(a, t.numpy())
