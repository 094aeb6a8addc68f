"""You add up in float64 and convert at the end. It holds whole numbers up to 2**53; an int64 can be larger.

caught by: precise
"""


def running_totals(rain):
    return rain.double().cumsum(0).to(rain.dtype)
