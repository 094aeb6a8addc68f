"""Convert on purpose

`x.to(torch.uint8)` raises nothing: what does not fit becomes another number. So clamp first, or check.

    >>> to_int(torch.tensor([1.5, 2.5, -1.5]), "round"), safe_cast(torch.tensor([0, 255]), torch.uint8)
    (tensor([ 2,  2, -2]), tensor([  0, 255], dtype=torch.uint8))
    >>> to_half(torch.tensor([1.5, 1e9]))
    tensor([1.5000e+00, 6.5504e+04], dtype=torch.float16)

C1  `to_int(x, mode)` returns x as int64. mode says how: "trunc" cuts off the digits after the point, "floor" rounds
    down, "ceil" rounds up, and "round" rounds to the nearest integer, and halves to the even one.
C2  `to_int` raises ValueError for any other mode.
C3  `safe_cast(x, dtype)` returns the whole numbers of x in an integer dtype, all of them unchanged.
C4  `safe_cast` raises OverflowError if a number of x lies outside of the range of dtype, such as -1 for uint8.
C5  If x has that dtype already, `safe_cast` returns x itself.
C6  `to_half(x)` returns x as float16. Numbers beyond its largest one, 65504, and infinities become 65504 or -65504.
    NaN stays NaN.
C7  The arguments stay as they are, and no function loops over the elements.

x may have any shape, including sizes of 0, and any strides. Its dtype is
- in `to_int`, float32 or float64, with |x| < 2**53,
- in `safe_cast`, uint8, int8, int16, int32 or int64, and so is the argument dtype,
- in `to_half`, float32.
"""

import torch


def to_int(x: torch.Tensor, mode: str) -> torch.Tensor:
    raise NotImplementedError  # TODO: four ways to a whole number


def safe_cast(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    raise NotImplementedError  # TODO: convert, but refuse what does not fit


def to_half(x: torch.Tensor) -> torch.Tensor:
    raise NotImplementedError  # TODO: float16 without infinities
