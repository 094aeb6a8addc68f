"""You call `roll`, which the puzzle asks you to build yourself.

caught by: no_loop
"""

def turn(x):
    return x.roll(1)
