"""You read the file that you know, whichever is asked; the path says which.

caught by: other_file
keeps: commonest, merge, encode
"""

from pathlib import Path


def merges_of(path):
    lines = Path("data/merges.txt").read_text(encoding="utf-8").splitlines()
    return [tuple(map(int, line.split())) for line in lines if line and not line.startswith("#")]
