"""A negative place counts from the end in Python; here it is a place that the storage does not have.

caught by: refuses
keeps: everything, storage_numbers
"""


def poke_(t, k, v):
    everything(t)[k] = v
    return t
