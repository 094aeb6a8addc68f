"""Notes

C1  `note(numbers, path)` writes a list of numbers to a file, one a line, and returns how many words are in words.txt.
C2  `notes(folder)` returns the names of the files in a folder, sorted.
"""


def note(numbers, path):
    raise NotImplementedError  # TODO


def notes(folder):
    raise NotImplementedError  # TODO
