"""You give int / int the dtype of the ints. The quotient of two ints need not be an int, so "/" makes floats.

caught by: division
keeps: Operand, INTS, FLOATS, category, dtype_of, say, winner, fits_in_place
"""


def result_dtype(a, b, op):
    strong, weak = (a, b) if say(a) >= say(b) else (b, a)
    result = dtype_of(strong)
    if say(a) == say(b) or category(dtype_of(weak)) > category(result):
        result = winner(result, dtype_of(weak))
    return result
