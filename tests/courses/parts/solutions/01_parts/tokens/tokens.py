"""also right: detached, right_in_float64, right_and_overwrites"""

from pathlib import Path

import torch
from shared.words import words_of

WORDS = Path(__file__).parent / "data" / "words.txt"


def encode(text):
    words = words_of(WORDS)
    return torch.tensor([words.index(word) for word in text.split()], dtype=torch.int64)


def save(ids, path):
    Path(path).write_text("".join(f"{number}\n" for number in ids.tolist()))


def load(path):
    return torch.tensor([int(line) for line in Path(path).read_text().split()], dtype=torch.int64)
