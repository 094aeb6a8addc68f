"""You let PyTorch exchange the dims, as `transpose` does; write down yourself what it does to sizes and strides.

caught by: as_strided
keeps: flip_last, packed
"""


def swap(t, a, b):
    return t.transpose(a, b)
