"""Between two with the same say you take the first. Both count, in either order: a + b has the dtype of b + a.

caught by: one_category
keeps: Operand, INTS, FLOATS, category, dtype_of, say, result_dtype, fits_in_place
"""


def winner(one, other):
    return one if category(one) >= category(other) else other
