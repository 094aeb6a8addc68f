"""You squeeze the caller's tensor with `squeeze_`: the underscore changes t itself, and its dims of size 1 are lost.

caught by: kept
keeps: to_tensor
"""


def to_python(t):
    shape = t.shape
    return t.squeeze_().reshape(shape).tolist()
