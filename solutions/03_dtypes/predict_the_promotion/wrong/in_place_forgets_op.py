"""You compare the operands and forget the operation. int /= int gives floats, which an int tensor cannot hold.

caught by: all_in_place
keeps: Operand, INTS, FLOATS, category, dtype_of, say, winner, result_dtype
"""


def fits_in_place(a, b, op):
    return category(dtype_of(b)) <= category(a[0])
