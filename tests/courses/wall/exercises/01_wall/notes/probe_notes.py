"""Folders for the student's code, which runs beside this: a path of the check's process would mean nothing to it."""

from pathlib import Path
from tempfile import TemporaryDirectory


def noted(note, numbers):
    """What `note` returns, the lines of the file that it writes, and the names of all files and folders afterwards."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "deep" / "note.txt"
        result = note(numbers, path)
        lines = path.read_text().split() if path.is_file() else []
        return result, lines, sorted(each.name for each in folder.rglob("*"))


def named(notes, names):
    """What `notes` returns of a folder with files of these names."""
    with TemporaryDirectory() as folder:
        for name in names:
            Path(folder, name).write_text(name)
        return notes(Path(folder))
