from collections import Counter


def commonest(ids):
    counts = Counter(zip(ids, ids[1:]))
    return max(counts, key=lambda pair: (counts[pair], pair))


def merge(ids, pair, new):
    found, place = [], 0
    while place < len(ids):
        if tuple(ids[place : place + 2]) == pair:
            found.append(new)
            place += 2
        else:
            found.append(ids[place])
            place += 1
    return found


def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for new, pair in enumerate(merges, 256):
        ids = merge(ids, pair, new)
    return ids


def merges_of(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines if line and not line.startswith("#"))
    return [(int(a), int(b)) for a, b in pairs]
