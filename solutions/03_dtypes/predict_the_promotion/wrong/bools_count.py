"""You add two bools to an int, as Python does with True + True. Two bool tensors give a bool tensor.

caught by: all_of_one_category
keeps: Operand, INTS, FLOATS, category, dtype_of, say, result_dtype, fits_in_place
"""


def winner(one, other):
    if {one, other} == {"uint8", "int8"}:
        return "int16"
    if {one, other} == {"float16", "bfloat16"}:
        return "float32"
    if one == other == "bool":
        return "int64"
    return max(one, other, key=("bool", *INTS, *FLOATS).index)
