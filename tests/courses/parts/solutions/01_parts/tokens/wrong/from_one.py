"""You count lines from 1; the first word is number 0.

caught by: some
keeps: save, load
"""

import torch
from shared.words import words_of
from pathlib import Path


def encode(text):
    words = words_of(Path("data/words.txt"))
    return torch.tensor([words.index(word) + 1 for word in text.split()], dtype=torch.int64)
