"""You call `cumsum`, which the puzzle asks you to build yourself.

caught by: no_loop
"""

def running_sum(x):
    return x.cumsum(0)
