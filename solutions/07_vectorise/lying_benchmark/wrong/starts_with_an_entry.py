"""You begin with x[0] and add to it in place. x[0] is a view: you write the total into x.

caught by: kept
breaks: C2, C3, C5, C6
keeps: compare_sums
"""


def add_up(x):
    total = x[0]
    for value in x[1:]:
        total += value
    return total
