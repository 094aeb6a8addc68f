"""You `detach` the scores: the numbers are right, and no gradient gets back to the model.

caught by: gradient
keeps: best
"""


def pick(scores, labels):
    return scores.detach().gather(1, labels[:, None])[:, 0]
