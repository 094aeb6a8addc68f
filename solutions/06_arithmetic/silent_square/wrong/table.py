"""You ask for equally many entries and subtract; a column minus a vector is still a table of n by n differences.

caught by: column_and_vector
keeps: as_vector
"""


def mse(pred, target):
    if len(as_vector(pred)) != len(as_vector(target)):
        raise ValueError("different numbers")
    return ((pred - target) ** 2).mean()
