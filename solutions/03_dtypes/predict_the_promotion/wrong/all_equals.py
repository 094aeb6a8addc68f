"""You let a tensor of 0 dims widen one with dims. It has less say: float32 + a single float64 stays float32.

caught by: zero_dims
keeps: Operand, INTS, FLOATS, category, dtype_of, winner, result_dtype, fits_in_place
"""


def say(operand):
    return 2 if isinstance(operand, tuple) else 0
