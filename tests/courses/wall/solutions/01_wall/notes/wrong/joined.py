"""You write all numbers without a line end between them.

caught by: note
keeps: notes
"""


def note(numbers, path):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(map(str, numbers)))
    return len(open("words.txt").read().split())
