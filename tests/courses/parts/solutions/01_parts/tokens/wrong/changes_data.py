"""You sort the words; their order in the file is what counts.

caught by: some
keeps: save, load
"""

import torch


def encode(text):
    words = sorted(open("data/words.txt").read().split())
    return torch.tensor([words.index(word) for word in text.split()], dtype=torch.int64)
