"""You count places in t, not in its storage: place 0 is where the storage begins, and t may begin later.

caught by: poke_example
keeps: everything, storage_numbers
"""


def poke_(t, k, v):
    if not 0 <= k < len(everything(t)):
        raise IndexError("there is no such place")
    if k < t.numel():
        t.view(-1)[k] = v
    return t
