"""In place and lean

C1  `scale_(t, factor)` multiplies t by factor where it lies and returns t.
C2  `scale_` makes no second tensor.
C3  `pick(scores, labels)` returns scores[i, labels[i]] for each row i.
C4  `pick` makes no table of the size of scores.
"""


def scale_(t, factor):
    raise NotImplementedError  # TODO


def pick(scores, labels):
    raise NotImplementedError  # TODO
