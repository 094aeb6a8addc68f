"""You take a number for each letter; a letter may be several bytes of UTF-8.

caught by: bytes
keeps: commonest, merge, merges_of
"""

def encode(text, merges):
    ids = [ord(letter) for letter in text]
    for new, pair in enumerate(merges, 256):
        ids = merge(ids, pair, new)
    return ids
