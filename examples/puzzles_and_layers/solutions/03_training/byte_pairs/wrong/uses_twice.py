"""You use an id for two pairs: go on behind both of them.

caught by: overlaps
keeps: commonest, encode, merges_of
"""

def merge(ids, pair, new):
    found, place = [], 0
    while place < len(ids):
        if tuple(ids[place : place + 2]) == pair:
            found.append(new)
            place += 1 if ids[place + 1 : place + 3] == list(pair) else 2
        else:
            found.append(ids[place])
            place += 1
    return found
