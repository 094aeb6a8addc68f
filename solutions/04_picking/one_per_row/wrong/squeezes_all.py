"""You squeeze every dim of size 1: for a single picture the dim of the pictures goes, too. Name the dim.

caught by: random[few_rows]
keeps: best
"""


def pick(scores, labels):
    return scores.gather(1, labels[:, None]).squeeze()
