"""You leave out a tensor of 0 dims. It does matter where its category is higher: an int tensor cannot hold 2.5.

caught by: zero_dims
keeps: Operand, INTS, FLOATS, category, dtype_of, say, winner, fits_in_place
"""


def result_dtype(a, b, op):
    strong, weak = (a, b) if say(a) >= say(b) else (b, a)
    result = dtype_of(strong)
    number = not isinstance(weak, tuple)
    if say(a) == say(b) or (number and category(dtype_of(weak)) > category(result)):
        result = winner(result, dtype_of(weak))
    return "float32" if op == "/" and category(result) < 2 else result
