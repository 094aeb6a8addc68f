"""`contiguous` copies only what is out of order. A slice of the first rows is in order, and still holds all of it.

caught by: compact_example
keeps: boxed_bytes, tensor_bytes, held_bytes
"""


def compact(t):
    return t if 2 * t.nbytes >= held_bytes(t) else t.contiguous()
