"""You return a list; the shapes of PyTorch are tuples.

caught by: tuple
keeps: padded, met
"""


def broadcast(a, b):
    rank = max(len(a), len(b))
    return [met(x, y) for x, y in zip(padded(a, rank), padded(b, rank), strict=True)]
