"""You exchange the sizes and not the strides: the same row of numbers, cut into lines of another length.

caught by: swap_example
keeps: flip_last, packed
"""


def swap(t, a, b):
    sizes = list(t.shape)
    sizes[a], sizes[b] = sizes[b], sizes[a]
    return t.reshape(-1).as_strided(sizes, t.new_empty(sizes, device="meta").stride())
