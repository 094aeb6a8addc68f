"""A function with a secret, and how often it was called. Runs beside the student's code."""


def slope_of(slope, factor):
    """What `slope` makes of a function, and how often it called it."""
    calls = []

    def line(x):
        calls.append(x)
        return factor * x

    return [slope(line), len(calls)]
