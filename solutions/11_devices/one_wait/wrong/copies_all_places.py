"""You copy all places at which there is no finite number; take the first of them where they are, and copy that one.

caught by: few_waits
keeps: loss_log
"""


def first_bad(x):
    places = (~x.isfinite()).nonzero().flatten().tolist()
    return places[0] if places else -1
