"""You call a small slope flat. How small is small depends on the units of f; only a gradient of 0 is flat.

caught by: steeper
keeps: grad_of, leaf
"""


def steeper(f, x):
    slopes = grad_of(f, x)[0]
    flat = torch.isclose(slopes, torch.zeros_like(slopes))
    steep = ["up" if slope > 0 else "down" for slope in slopes.tolist()]
    return ["flat" if still else word for still, word in zip(flat.tolist(), steep, strict=True)]
