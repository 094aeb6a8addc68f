"""A file in `tests/attacks` → Attack: what is handed in, and what must come of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parents[1] / "attacks"
LEVELS = ("none", "reduced", "full")
"""Levels of confinement, the weakest first."""

_HOW_IT_FAILS = "it may fail to load, or not: `message` must say how, or else it proves nothing once it no longer loads"
_BYTES = {"bom": b"\xef\xbb\xbf", "crlf": b"\r\n", "cr": b"\r"}


@dataclass(frozen=True)
class Attack:
    """One attack.

    Attributes:
        name: of its file.
        title: the first line of its docstring.
        files: what is handed in, by path; what the docstring names comes on top.
        exercise: whose module it is.
        verdicts: by check; "all" stands for those not named. A check that nothing is said of must pass. Some verdicts
            with bars between them: any of these.
        most: the points that the exercise may have at most, also by checks that pass.
        message: a pattern that the message of a check which did not pass must match, or "".
        detail: the same for the text for staff.
        shown_output: a pattern that the shown output must match, or "".
        never: a pattern that nothing may match that its author is told, or "".
        level: the least level of confinement at which all of this holds; it is not run below, where it may do harm.
        unless: "root" or "unprivileged": who cannot be attacked so.
        author: the author's name, if that is the attack.
        bytes: "bom", "crlf" or "cr": how the module is encoded.
        replace: texts of the module and what stands there in what is handed in, as Latin-1.
        repeat: texts of the module, and what stands there instead how many times.
        links: symbolic links to plant, by path; "{course}" and "{neighbour}" stand for folders.
        odd: special files to plant by path: missing, fifo, socket, device, folder, unreadable.
        made: files to plant, by path: how each begins, what is repeated then how many times, and how it ends.
        zipped: zips to plant, by path: the entries of each, by name, what is repeated in it and how many times.
        large: files of that many bytes to plant, by path.
        many: numbers of empty files to plant, by a pattern of their path.
        deep: names of folders, and how many of them stand inside one another, with a module in the last.
    """

    name: str
    title: str
    files: Mapping[str, bytes]
    exercise: str
    verdicts: Mapping[str, str] = field(default_factory=dict)
    most: float = float("inf")
    message: str = ""
    detail: str = ""
    shown_output: str = ""
    never: str = ""
    level: str = "none"
    unless: str = ""
    author: str = ""
    bytes: str = ""
    replace: Mapping[str, str] = field(default_factory=dict)
    repeat: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    odd: Mapping[str, str] = field(default_factory=dict)
    made: Mapping[str, tuple[str, str, int, str]] = field(default_factory=dict)
    zipped: Mapping[str, Sequence[tuple[str, str, int]]] = field(default_factory=dict)
    large: Mapping[str, int] = field(default_factory=dict)
    many: Mapping[str, int] = field(default_factory=dict)
    deep: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_loaded(self) -> bool:
        """Whether its module loads. Where it does not, no check was attacked: that must be what the attack is about."""
        return not any("error" in verdict.split("|") for verdict in self.verdicts.values())

    def holds_at(self, level: str) -> bool:
        """Whether it can be run, and what must come of it asked for, at a level of confinement."""
        return LEVELS.index(level) >= LEVELS.index(self.level)


def read_corpus(folder: Path = FOLDER) -> list[Attack]:
    """All attacks, by name."""
    paths = [path for path in folder.iterdir() if path.suffix == ".py" or (path.is_dir() and path.name[0] not in "._")]
    return [read_attack(path) for path in sorted(paths, key=lambda path: path.stem)]


def read_attack(path: Path) -> Attack:
    """One attack: a module, or a folder in which one module says what must come of it."""
    if path.is_dir():
        found = {file.relative_to(path).as_posix(): file for file in path.rglob("*") if file.is_file()}
        files = {name: file.read_bytes() for name, file in found.items() if "__pycache__" not in name}
    else:
        files = {"": path.read_bytes()}
    (name, title, told), *more = _tellers(files)
    if more:
        raise ValueError(f"{path.name}: more than one module says what must come of it")
    if unknown := set(told) - {item.name for item in fields(Attack)}:
        raise ValueError(f"{path.name}: unknown keys {', '.join(sorted(unknown))}")
    attack_verdicts = [verdict.split("|") for verdict in told.get("verdicts", {}).values()]
    if any("error" in each and len(each) > 1 for each in attack_verdicts) and not told.get("message"):
        raise ValueError(f"{path.name}: {_HOW_IT_FAILS}")
    others = {place: text.encode("utf-8", "surrogateescape") for place, text in told.pop("files", {}).items()}
    attack = Attack(path.stem, title, {}, **told)
    module = _encoded(files.pop(name), attack)
    return replace(attack, files={name or f"{attack.exercise}.py": module, **files, **others})


def _tellers(files: Mapping[str, bytes]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, text in files.items():
        if name and not name.endswith(".py"):
            continue
        head, bar, told = (ast.get_docstring(ast.parse(text)) or "").partition("\n---\n")
        if bar:
            yield name, head.split("\n")[0], yaml.safe_load(told)


def _encoded(text: bytes, attack: Attack) -> bytes:
    head, quotes, body = text.partition(b'"""\n')
    repeated = {old: new * times for old, (new, times) in attack.repeat.items()}
    for old, new in {**attack.replace, **repeated}.items():
        if old.encode() not in body:
            raise ValueError(f"{attack.name}: {old!r} does not stand behind the docstring")
        body = body.replace(old.encode(), new.encode("latin-1"))
    text = head + quotes + body
    if attack.bytes == "bom":
        return _BYTES["bom"] + text
    return text.replace(b"\n", _BYTES[attack.bytes]) if attack.bytes else text


def level_lines(attacks: Sequence[Attack]) -> Iterator[str]:
    """For each level but the last, the attacks that it is not asked to hold, as tables for docs/security.md."""
    heads = {"reduced": "Not held at `none`", "full": "Not held at `reduced`, nor at `none`"}
    for level, head in heads.items():
        yield f"| {head} | |"
        yield "|---|---|"
        yield from (f"| `{each.name}` | {each.title.rstrip('.')} |" for each in attacks if each.level == level)
        yield ""
