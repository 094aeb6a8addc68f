"""By the path from where it runs, which is the folder of the file."""

from pathlib import Path

import torch


def encode(text):
    places = {word: place for place, word in enumerate(open("data/words.txt").read().split())}
    return torch.tensor([places[word] for word in text.split()], dtype=torch.int64)


def save(ids, path):
    with open(path, "w") as file:
        print(*ids.tolist(), sep="\n", file=file)


def load(path):
    with open(path) as file:
        return torch.tensor(list(map(int, file)), dtype=torch.int64)
