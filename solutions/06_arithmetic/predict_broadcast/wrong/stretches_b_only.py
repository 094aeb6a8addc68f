"""You stretch the second shape to the first alone; either side may be stretched, even both at once.

caught by: ones
keeps: padded
"""


def broadcast(a, b):
    if len(a) < len(b):
        a, b = b, a
    b = padded(b, len(a))
    for x, y in zip(a, b, strict=True):
        if y not in (1, x):
            raise ValueError(f"{y} cannot be stretched to {x}")
    return a
