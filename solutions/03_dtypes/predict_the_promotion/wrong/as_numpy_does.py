"""You widen floats until they hold every int, as NumPy does. PyTorch takes the float as it is: int64 + float16.

caught by: two_categories
keeps: Operand, INTS, FLOATS, category, dtype_of, say, result_dtype, fits_in_place
"""


def winner(one, other):
    if {one, other} == {"uint8", "int8"}:
        return "int16"
    if {one, other} == {"float16", "bfloat16"}:
        return "float32"
    first, last = sorted((one, other), key=("bool", *INTS, *FLOATS).index)
    if category(first) == 1 and category(last) == 2 and first in ("int32", "int64"):
        return "float64"
    return last
