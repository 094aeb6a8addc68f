"""You change t itself into the window on everything, with `as_strided_`, and the caller's tensor has lost its shape.

caught by: kept
keeps: everything, poke_
"""


def storage_numbers(t):
    count = t.untyped_storage().nbytes() // t.itemsize
    t.as_strided_((count,), (1,), 0)
    return t.tolist()
