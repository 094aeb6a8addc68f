"""You give one of the two halves for float16 and bfloat16. One has more digits, the other reaches further: float32.

caught by: one_category
keeps: Operand, INTS, FLOATS, category, dtype_of, say, result_dtype, fits_in_place
"""


def winner(one, other):
    if {one, other} == {"uint8", "int8"}:
        return "int16"
    return max(one, other, key=("bool", *INTS, *FLOATS).index)
