"""You take labels for numbers from 1 on; classes, like all indices, are counted from 0.

caught by: four_pictures
keeps: best
"""


def pick(scores, labels):
    return scores.gather(1, labels[:, None] - (labels[:, None] > 0).long())[:, 0]
