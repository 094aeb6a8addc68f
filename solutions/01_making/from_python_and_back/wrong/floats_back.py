"""You make a float of every number. The whole numbers of an int tensor come back as ints, those of a bool one as bools.

caught by: back
keeps: to_tensor
"""


def to_python(t):
    return t.double().tolist()
