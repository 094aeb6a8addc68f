"""Tokens

C1  `encode(text)` gives a 1-D int64 tensor with the line of each word of text in data/words.txt, counted from 0.
C2  `save(ids, path)` writes ids to the file path, one number a line, and returns None; `load(path)` gives them back.
"""

from pathlib import Path

import torch

WORDS = Path(__file__).parent / "data" / "words.txt"


def encode(text: str) -> torch.Tensor:
    raise NotImplementedError  # TODO


def save(ids: torch.Tensor, path: Path) -> None:
    raise NotImplementedError  # TODO


def load(path: Path) -> torch.Tensor:
    raise NotImplementedError  # TODO
