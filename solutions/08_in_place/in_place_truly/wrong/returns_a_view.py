"""You return a new object on the same memory; return the tensor itself.

caught by: returned[sine_]
keeps: axpy_, reset_
"""


def sine_(t):
    return t.view_as(t).sin_()
