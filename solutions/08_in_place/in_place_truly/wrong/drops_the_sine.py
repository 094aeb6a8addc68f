"""You call `sin` without its underscore: the sine is made and dropped, and t stays as it was.

caught by: random[sine_]
keeps: axpy_, reset_
"""


def sine_(t):
    t.sin()
    return t
