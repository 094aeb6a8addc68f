"""You list what t shows. Its storage has more: what lies before, between and behind its elements.

caught by: example
keeps: everything, poke_
"""


def storage_numbers(t):
    return t.flatten().tolist()
