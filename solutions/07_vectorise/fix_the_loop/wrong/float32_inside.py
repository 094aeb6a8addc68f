"""You compute in float32, which rounds float64 samples; stay in the dtype of x.

caught by: precise
"""


def energy_above(x, thr):
    return x[x > thr].float().square().sum().to(x.dtype)
