"""Of equal pairs you take the one that was seen first; the larger one is asked.

caught by: ties
keeps: merge, encode, merges_of
"""

from collections import Counter


def commonest(ids):
    return Counter(zip(ids, ids[1:])).most_common(1)[0][0]
