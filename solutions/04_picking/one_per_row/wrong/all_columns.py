"""You index only the columns: every row gives all of these, an (N, N) table. The rows need an index, too.

caught by: four_pictures
breaks: C1, C3
keeps: best
"""


def pick(scores, labels):
    return scores[:, labels]
