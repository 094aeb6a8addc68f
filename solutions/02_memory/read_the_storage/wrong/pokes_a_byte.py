"""You write one byte of the storage, and a number has several: what comes out is some other number.

caught by: poke_example
keeps: everything, storage_numbers
"""


def poke_(t, k, v):
    if not 0 <= k < len(everything(t)):
        raise IndexError("there is no such place")
    t.untyped_storage()[k] = int(v)
    return t
