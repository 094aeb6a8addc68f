"""Numbers in options: how many devices there are, and how much memory each has."""

from __future__ import annotations

import argparse


def parse_count(text: str) -> int:
    """Return a number of devices, or raise `argparse.ArgumentTypeError`."""
    if not text.isdecimal() or not 1 <= int(text) <= 16:
        raise argparse.ArgumentTypeError(f"from 1 to 16, not {text}")
    return int(text)


def parse_gib(text: str) -> int:
    """Return a number of GiB, or raise `argparse.ArgumentTypeError`."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"a whole number of GiB, at least 1, not {text}")
    return int(text)
