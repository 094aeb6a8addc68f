"""`t.storage()` is deprecated, and warns; make a window on `t.untyped_storage()` instead.

caught by: no_warning
keeps: everything, poke_
"""


def storage_numbers(t):
    return list(t.storage())
