"""A folder for each author: honest ones, and attackers between them."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import stat
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attacking.corpus import Attack
from attacking.secrets import Secrets
from grader.course.answers import read_answer
from grader.course.load import load_course
from grader.model import Exercise

_EXERCISES = ("double", "total", "tables", "window", "once", "notes", "last", "together", "lean")
CONTROL = "last"
"""The exercise that attackers do honestly: they must get its points."""

_ATTACKS_BETWEEN = 16
_HONEST: tuple[Mapping[str, str], ...] = (
    {},
    {"double": "wrong/triples", "total": "wrong/loop", "window": "wrong/copy"},
    {"tables": "wrong/set", "once": "wrong/two", "notes": "wrong/joined", "last": "wrong/input"},
    {"double": "wrong/changes_input", "total": "wrong/list", "tables": "wrong/title", "last": ""},
)
"""What honest authors hand in where it is not the right answer; "" is nothing."""


def plant_school(
    root: Path, course: Path, secrets: Secrets, attacks: Sequence[Attack | None]
) -> dict[str, Attack | None]:
    """Make a folder for each author in `root`, none in the place of None; who attacks, by author, and honest ones."""
    authors: dict[str, Attack | None] = {}
    for number in range(len(attacks) // _ATTACKS_BETWEEN + 2):
        between = attacks[(number - 1) * _ATTACKS_BETWEEN : number * _ATTACKS_BETWEEN] if number else ()
        for attack in filter(None, between):
            name = attack.author or f"{number:02}a_{attack.name}"
            authors[name] = attack
            _plant_attack(root / name, course, root / "00h_honest", attack)
        name = f"{number:02}h_honest"
        authors[name] = None
        _plant_honest(root / name, course, secrets, _HONEST[number % len(_HONEST)])
    return authors


@functools.cache
def _exercises_of(course: Path) -> dict[str, Exercise]:
    return {exercise.id: exercise for exercise in load_course(course).exercises}


def _plant_honest(folder: Path, course: Path, secrets: Secrets, others: Mapping[str, str]) -> None:
    folder.mkdir(parents=True)
    for exercise in _EXERCISES:
        answer = others.get(exercise, "right/plain")
        if answer:
            known, name = _exercises_of(course)[exercise], Path(answer).name
            (path,) = (path for path in (*known.right, *known.wrong) if path.stem == name)
            text = read_answer(known, path).source.decode()
            text += f"\n\nMINE = {secrets.word('submission')!r}\nprint('honest', __name__)\n"
            (folder / f"{exercise}.py").write_text(text, encoding="utf-8")


def _plant_zip(path: Path, entries: Sequence[tuple[str, str, int]]) -> None:
    """Write a zip whose names lead wherever they like; a name that begins with `link:` is that of a symbolic link."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part, times in entries:
            entry = zipfile.ZipInfo(name.removeprefix("link:"))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFLNK | 0o777 if name.startswith("link:") else stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, part * times)


def _plant_attack(folder: Path, course: Path, neighbour: Path, attack: Attack) -> None:
    folder.mkdir(parents=True)
    honest = course / "solutions/01_wall" / CONTROL / "right/plain.py"
    (folder / f"{CONTROL}.py").write_bytes(honest.read_bytes())
    for name, text in attack.files.items():
        _place(folder, name).write_bytes(text)
    for name, (begin, part, times, end) in attack.made.items():
        _place(folder, name).write_text(begin + part * times + end, encoding="utf-8")
    for name, entries in attack.zipped.items():
        _plant_zip(_place(folder, name), entries)
    for name, size in attack.large.items():
        _place(folder, name).write_bytes(b"#" + b"\xc3\xa9" * (size // 2) + b"\n")
    for name, target in attack.links.items():
        path = _place(folder, name)
        path.symlink_to(target.format(course=course, neighbour=neighbour, self=folder))
    for pattern, count in attack.many.items():
        for number in range(count):
            _place(folder, pattern.format(number)).touch()
    for name, levels in attack.deep.items():
        _plant_deep(folder, name, levels)
    for name, kind in attack.odd.items():
        _ODD[kind](_place(folder, name))


def _plant_deep(folder: Path, name: str, levels: int) -> None:
    """Make folders in folders, deeper than a path can be written, with a module in the last."""
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=here)
        above, here = here, os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
        os.close(above)
    os.close(os.open("deep.py", os.O_WRONLY | os.O_CREAT, dir_fd=here))
    os.close(here)


def _place(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError, IsADirectoryError):
        path.unlink()
    return path


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(path.name)
    finally:
        os.chdir(here)


def _unreadable(path: Path) -> None:
    path.write_text("SECRET = 1\n", encoding="utf-8")
    path.chmod(0)


def can_make_devices(folder: Path) -> bool:
    """Whether this process may make device files, which root in a user namespace may not."""
    path = folder / "device"
    try:
        _ODD["device"](path)
    except PermissionError:
        return False
    path.unlink()
    return True


_ODD: Mapping[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "fifo": os.mkfifo,
    "socket": _socket,
    "device": lambda path: os.mknod(path, 0o20666, os.makedev(1, 5)),
    "folder": lambda path: path.mkdir(),
    "unreadable": _unreadable,
}
