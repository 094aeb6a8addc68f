"""You give float32 wherever a 0-dim tensor brings the float. It brings its own dtype too: float64 then.

caught by: zero_dims
keeps: Operand, INTS, FLOATS, category, dtype_of, say, winner, fits_in_place
"""


def result_dtype(a, b, op):
    strong, weak = (a, b) if say(a) >= say(b) else (b, a)
    result = dtype_of(strong)
    if say(a) == say(b):
        result = winner(result, dtype_of(weak))
    elif category(dtype_of(weak)) > category(result):
        result = "float32" if category(dtype_of(weak)) == 2 else winner(result, dtype_of(weak))
    return "float32" if op == "/" and category(result) < 2 else result
