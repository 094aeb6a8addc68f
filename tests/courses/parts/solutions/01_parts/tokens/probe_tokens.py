"""Files that the student's code writes and reads. Runs beside it."""

from pathlib import Path
from tempfile import TemporaryDirectory


def written(save, ids):
    """What `save` returns, and the text that it writes to the file; None if there is no file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "ids.txt")
        result = save(ids, path)
        return result, path.read_text() if path.is_file() else None


def read(load, text, as_text=False):
    """What `load` gives of a file with this text, whose name it is given as a `Path` or a `str`."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "ids.txt")
        path.write_text(text)
        return load(str(path) if as_text else path)
