"""You treat a number like a tensor of 0 dims. Beside such a tensor it still counts less: int16 + 5 stays int16.

caught by: all_numbers
keeps: Operand, INTS, FLOATS, category, dtype_of, winner, result_dtype, fits_in_place
"""


def say(operand):
    return 2 if isinstance(operand, tuple) and operand[1] else 1
