"""The list grows at its end."""

def commonest(ids):
    pairs = list(zip(ids, ids[1:]))
    return max(set(pairs), key=lambda pair: (pairs.count(pair), pair))


def merge(ids, pair, new):
    found = []
    for id in ids:
        found.append((id, False))
        if len(found) > 1 and (found[-2][0], id) == pair and not found[-2][1]:
            found[-2:] = [(new, True)]
    return [id for id, _ in found]


def encode(text, merges):
    ids = list(text.encode())
    for place, pair in enumerate(merges):
        ids = merge(ids, pair, 256 + place)
    return ids


def merges_of(path):
    found = []
    with open(path) as file:
        for line in file:
            words = [] if line[0] == "#" else line.split()
            if words:
                found.append((int(words[0]), int(words[1])))
    return found
