"""You write to a copy of the numbers, which is thrown away; the storage itself stays as it was.

caught by: poke_example
keeps: everything, storage_numbers
"""


def poke_(t, k, v):
    numbers = everything(t).clone()
    if not 0 <= k < len(numbers):
        raise IndexError("there is no such place")
    numbers[k] = v
    return t
