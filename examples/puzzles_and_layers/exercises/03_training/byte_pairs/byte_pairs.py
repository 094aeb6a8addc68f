"""Byte pairs

A tokenizer begins with bytes, and makes one id of the pair that stands together most often.

C1  `commonest(ids)` returns the pair (a, b) of neighbours that occurs most often in the list ids; of equal ones the larger pair.
C2  `merge(ids, pair, new)` returns a list in which each occurrence of the pair, from the left, is the one id new.
C3  `encode(text, merges)` turns text into the bytes of UTF-8, and merges the pairs of merges in order; the first gets the id 256, the next 257.
C4  `merges_of(path)` returns the pairs of a file such as `data/merges.txt`: a pair of numbers in each line, in order. Empty lines and lines that begin with # are left out.
"""

from pathlib import Path


def commonest(ids: list[int]) -> tuple[int, int]:
    raise NotImplementedError  # TODO


def merge(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
    raise NotImplementedError  # TODO


def encode(text: str, merges: list[tuple[int, int]]) -> list[int]:
    raise NotImplementedError  # TODO


def merges_of(path: Path) -> list[tuple[int, int]]:
    raise NotImplementedError  # TODO
