"""You turn every number into a float; those of an integer tensor are ints.

caught by: dtypes
keeps: everything, poke_
"""


def storage_numbers(t):
    return [float(number) for number in everything(t)]
