"""You give float32 for every division. Floats keep their dtype: float16 / float16 is float16.

caught by: division
keeps: Operand, INTS, FLOATS, category, dtype_of, say, winner, fits_in_place
"""


def result_dtype(a, b, op):
    if op == "/":
        return "float32"
    strong, weak = (a, b) if say(a) >= say(b) else (b, a)
    result = dtype_of(strong)
    if say(a) == say(b) or category(dtype_of(weak)) > category(result):
        result = winner(result, dtype_of(weak))
    return result
