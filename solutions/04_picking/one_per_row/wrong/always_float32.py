"""You convert the scores to float32; what is picked should have their own dtype.

caught by: dtype
keeps: best
"""


def pick(scores, labels):
    return scores.float().gather(1, labels[:, None])[:, 0]
