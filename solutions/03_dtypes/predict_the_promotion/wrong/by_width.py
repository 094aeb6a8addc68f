"""You compare widths across categories: int64 beats float16 for you. The category comes first, the width second.

caught by: two_categories
keeps: Operand, INTS, FLOATS, category, dtype_of, say, result_dtype, fits_in_place
"""


def winner(one, other):
    if {one, other} == {"uint8", "int8"}:
        return "int16"
    if {one, other} == {"float16", "bfloat16"}:
        return "float32"
    widths = {"bool": 1, "uint8": 8, "int8": 8}
    return max(one, other, key=lambda name: (widths.get(name) or int(name[-2:]), category(name)))
