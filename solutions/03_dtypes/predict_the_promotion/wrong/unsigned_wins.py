"""You give int8 for uint8 and int8. It does not hold 200, as uint8 does; int16 holds the numbers of both.

caught by: one_category
keeps: Operand, INTS, FLOATS, category, dtype_of, say, result_dtype, fits_in_place
"""


def winner(one, other):
    if {one, other} == {"float16", "bfloat16"}:
        return "float32"
    return max(one, other, key=("bool", *INTS, *FLOATS).index)
