"""You read the storage with NumPy, which has no bfloat16. A window on the storage works for every dtype.

caught by: dtypes
keeps: everything, poke_
"""

import numpy as np


def storage_numbers(t):
    return np.frombuffer(bytes(t.untyped_storage()), dtype=t.numpy().dtype).tolist()
