"""You read a clock yourself. Timer warms up, divides by the number of runs and sets the threads to one. Your clock
does not.

caught by: other_seconds
breaks: C1, C2, C3
keeps: add_up
"""

import time


def compare_sums(x, Timer):
    begin = time.perf_counter()
    by_loop = add_up(x)
    middle = time.perf_counter()
    whole = x.sum()
    end = time.perf_counter()
    slow, fast = middle - begin, end - middle
    return {"loop": slow, "sum": fast, "speedup": slow / fast, "totals": (by_loop, whole)}
