"""You leave out the first line, whatever it is, and trip over what is empty; comments may stand anywhere.

caught by: other_file
keeps: commonest, merge, encode
"""


def merges_of(path):
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return [(int(line.split()[0]), int(line.split()[1])) for line in lines]
