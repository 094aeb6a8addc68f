"""You give the names in the wrong order; they are to be sorted.

caught by: names
keeps: note
"""


def notes(folder):
    return sorted((path.name for path in folder.iterdir()), reverse=True)
