"""You call `sin` without its underscore: the sine is made and dropped, and t stays as it was.

caught by: random[sine_]
breaks: C1, C2, C3
keeps: axpy_, reset_
"""


def sine_(t):
    t.sin()
    return t
