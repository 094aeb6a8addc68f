r"""Returns NumPy's long doubles, which PyTorch does not know.

---
exercise: double
verdicts: {all: failed|skipped}  # the numbers are right; an array is no tensor
"""

import numpy as np


def double(x):
    return (2 * x).numpy().astype(np.longdouble)


def halve(x):
    return np.longdouble(0.5)
