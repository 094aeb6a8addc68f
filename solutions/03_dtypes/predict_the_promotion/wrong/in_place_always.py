"""You let everything be stored in place. The tensor keeps its dtype, and an int tensor cannot hold a float result.

caught by: in_place
keeps: Operand, INTS, FLOATS, category, dtype_of, say, winner, result_dtype
"""


def fits_in_place(a, b, op):
    return True
