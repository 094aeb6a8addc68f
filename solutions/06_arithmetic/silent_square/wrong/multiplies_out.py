"""You multiply the square out: p² - 2 p t + t². For large numbers these nearly cancel, and only rounding is left.

caught by: large
keeps: as_vector
"""

from torch import Tensor


def mse(pred: Tensor, target: Tensor) -> Tensor:
    p, t = as_vector(pred), as_vector(target)
    if len(p) != len(t):
        raise ValueError("different numbers")
    return (p * p - 2 * p * t + t * t).mean()
