"""You take a Python float for float64, which is what Python computes in. PyTorch gives it its default: float32.

caught by: numbers
keeps: Operand, INTS, FLOATS, category, say, winner, result_dtype, fits_in_place
"""


def dtype_of(operand):
    if isinstance(operand, tuple):
        return operand[0]
    return {bool: "bool", int: "int64", float: "float64"}[type(operand)]
