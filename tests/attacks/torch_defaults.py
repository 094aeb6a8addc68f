r"""Leaves other defaults of torch behind: dtype, device, gradients, printing, threads.

---
exercise: double
"""

import torch


def double(x):
    result = 2 * x
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    torch.set_grad_enabled(False)
    torch.set_printoptions(precision=1, threshold=1)
    torch.set_flush_denormal(True)
    torch.autograd.set_detect_anomaly(True)
    return result


def halve(x):
    return x / 2
