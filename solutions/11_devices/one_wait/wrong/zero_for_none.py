"""`argmax` of a mask without a True is 0, as if the first number were bad. Ask whether there is one.

caught by: first
keeps: loss_log
"""


def first_bad(x):
    return (~x.isfinite()).int().argmax().item() if x.numel() else -1
