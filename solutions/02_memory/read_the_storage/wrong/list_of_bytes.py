"""`untyped_storage` is a row of bytes. Four of them are one float32; read them in the dtype of t.

caught by: example
keeps: everything, poke_
"""


def storage_numbers(t):
    return list(t.untyped_storage())
