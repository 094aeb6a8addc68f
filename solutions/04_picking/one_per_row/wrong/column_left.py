"""You gather a column and leave it one: its shape is (N, 1). Drop the last dim.

caught by: four_pictures
keeps: best
"""


def pick(scores, labels):
    return scores.gather(1, labels[:, None])
