"""You ask for the very dtype of a. In place PyTorch narrows within a category: float16 += float64 is fine.

caught by: in_place
keeps: Operand, INTS, FLOATS, category, dtype_of, say, winner, result_dtype
"""


def fits_in_place(a, b, op):
    return result_dtype(a, b, op) == a[0]
