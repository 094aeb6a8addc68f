"""You leave the flat number that argmax gives: it counts through all dims.
An index has one number for each dim.

caught by: best_of_six
keeps: pick
"""


def best(t):
    return float(t.max()), int(t.argmax())
