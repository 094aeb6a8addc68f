"""You solve in NumPy (`numpy`), which takes batches too; but no gradient finds its way back to A and B.

caught by: gradients
keeps: solve_common
"""

import numpy as np
import torch


def solve_each(A, B):
    return torch.from_numpy(np.linalg.solve(A.detach().numpy(), B.detach().numpy()[..., None])[..., 0])
