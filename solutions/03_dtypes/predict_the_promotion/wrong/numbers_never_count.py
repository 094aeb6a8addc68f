"""You leave out Python numbers. A number does matter where its category is higher: an int tensor + 2.5 has floats.

caught by: numbers
keeps: Operand, INTS, FLOATS, category, dtype_of, say, winner, fits_in_place
"""


def result_dtype(a, b, op):
    strong, weak = (a, b) if say(a) >= say(b) else (b, a)
    result = dtype_of(strong)
    tensor = isinstance(weak, tuple)
    if say(a) == say(b) or (tensor and category(dtype_of(weak)) > category(result)):
        result = winner(result, dtype_of(weak))
    return "float32" if op == "/" and category(result) < 2 else result
