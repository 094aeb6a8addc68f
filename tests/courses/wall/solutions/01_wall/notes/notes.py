"""also right: detached, right_in_float64, right_and_overwrites"""

from pathlib import Path

SECRET = "CANARY_REFERENCE"


def note(numbers, path):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{number}\n" for number in numbers))
    return len(Path("words.txt").read_text().split())


def notes(folder):
    return sorted(path.name for path in folder.iterdir())
