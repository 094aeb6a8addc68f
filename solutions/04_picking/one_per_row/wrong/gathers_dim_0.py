"""You gather along dim 0: then the labels choose rows. They are numbers of columns, along dim 1.

caught by: four_pictures
breaks: C1, C3, C6
keeps: best
"""


def pick(scores, labels):
    return scores.gather(0, (labels % max(len(scores), 1))[None])[0]
