"""You put new memory behind t by `.data`: t shows the sine, and all windows on the old memory miss it.

caught by: windows[sine_]
keeps: axpy_, reset_
"""


def sine_(t):
    t.data = t.sin()
    return t
