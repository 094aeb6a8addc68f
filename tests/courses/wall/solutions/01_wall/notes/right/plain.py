"""By open and listdir."""

import os


def note(numbers, path):
    os.makedirs(path.parent, exist_ok=True)
    with open(path, "w") as file:
        print(*numbers, sep="\n", file=file)
    with open("words.txt") as file:
        return len(list(file))


def notes(folder):
    return sorted(os.listdir(folder))
