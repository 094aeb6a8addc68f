"""A student's file that a page and another editor may both change. Neither's text is ever lost.

A page writes the file only if it is as the page last read it. If it is not, both texts stay where they are until the
student chooses one; the other is then saved beside the file, under a name that is never graded.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.model.files import failing_as, write_whole
from grader.student.folder import free_name


@dataclass(frozen=True)
class OnDisk:
    """A file as it is on the disk.

    Attributes:
        text: the text, with line feeds at the ends of lines; "" if there is no file.
        is_there: True if there is a file.
        problem: a sentence on why it cannot be edited on a page, or "".
        crlf: True if its lines end as on Windows.
    """

    text: str
    is_there: bool = True
    problem: str = ""
    crlf: bool = False


def read(path: Path) -> OnDisk:
    """Return the file as it is on the disk: its text, or why a page cannot edit it."""
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return OnDisk("", is_there=False)
    except OSError as error:
        return OnDisk("", problem=f"{path.name} cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        return OnDisk("", problem=f"{path.name} is not UTF-8; save it as UTF-8 in the editor that you used")
    crlf = "\r\n" in text
    return OnDisk(text.replace("\r\n", "\n"), crlf=crlf)


def save(path: Path, text: str, base: str) -> OnDisk | None:
    """Write a page's text into a file, unless the file has changed since the page read it.

    Args:
        path: the path of the file.
        text: the text of the page.
        base: the text of the file, as the page read or saved it last.

    Returns:
        None if the file has the text now. Otherwise nothing was written, and the result is the file as it is on the
        disk.

    Raises:
        CourseError: the file cannot be written.
    """
    now = read(path)
    if now.text == text and now.is_there:
        return None
    if now.problem or (now.is_there and now.text != base):
        return now
    _write(path, text, crlf=now.crlf)
    return None


def keep_both(path: Path, winner: str, loser: str) -> Path:
    """Write one text into a file, and the other into a new file beside it.

    Args:
        path: the path of the file.
        winner: the text that goes into the file.
        loser: the text that goes beside it.

    Returns:
        The path of the new file.

    Raises:
        CourseError: a file cannot be written.
    """
    crlf = read(path).crlf
    beside = free_name(path)
    # First what would be lost.
    _write(beside, loser, crlf=crlf)
    _write(path, winner, crlf=crlf)
    return beside


def _write(path: Path, text: str, *, crlf: bool) -> None:
    with failing_as(f"{path.name} cannot be written"):
        write_whole(path, (text.replace("\n", "\r\n") if crlf else text).encode("utf-8"))
