"""You leave the numbers texts, as a file has them; ids are ints.

caught by: file
keeps: commonest, merge, encode
"""


def merges_of(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return [tuple(line.split()) for line in lines if line and not line.startswith("#")]
