r"""Returns NumPy's long doubles, which PyTorch does not know.

---
exercise: double
verdicts: {all: failed|skipped, random: passed}  # the numbers are right, their dtype and kind are not
"""

import numpy as np


def double(x):
    return (2 * x).numpy().astype(np.longdouble)


def halve(x):
    return np.longdouble(0.5)
