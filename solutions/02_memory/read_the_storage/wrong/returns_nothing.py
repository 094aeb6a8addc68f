"""You write, and do not return t. Functions with an underscore change their argument and give it back.

caught by: poke
keeps: everything, storage_numbers
"""


def poke_(t, k, v):
    window = everything(t)
    if not 0 <= k < len(window):
        raise IndexError("there is no such place")
    window[k] = v
