"""You call `bincount`, which the puzzle asks you to build yourself.

caught by: no_loop
"""

def tally(x, n):
    return x.bincount(minlength=n)
