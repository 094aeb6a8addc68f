"""You ask isinstance(x, int) before you ask for bool. To Python True is an int as well, so it never gets there.

caught by: all_numbers
keeps: Operand, INTS, FLOATS, category, say, winner, result_dtype, fits_in_place
"""


def dtype_of(operand):
    if isinstance(operand, tuple):
        return operand[0]
    return "int64" if isinstance(operand, int) else "float32"
