"""You make an (N, N) table and keep its diagonal: for 10,000 pictures that is 100 million numbers, to use 10,000.

caught by: many_classes
keeps: best
"""


def pick(scores, labels):
    return scores[:, labels].diagonal()
