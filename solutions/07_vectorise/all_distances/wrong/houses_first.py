"""You put the new dim into b, so that the houses come first: entry [i, j] is the distance of a[j] and b[i].

caught by: random[pairwise]
keeps: pairwise_lean
"""


def pairwise(a, b):
    return (a - b[:, None]).square().sum(-1).sqrt()
