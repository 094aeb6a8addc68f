"""You make a second tensor and copy it back.

caught by: in_place
"""


def scale_(t, factor):
    return t.copy_(t * factor)


def pick(scores, labels):
    return scores.gather(1, labels[:, None])[:, 0]
