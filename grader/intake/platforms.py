"""How each platform lays out what it gives: Gradescope, Moodle, Canvas, nbgrader, GitHub Classroom, a folder by hand.

Each has one function that recognizes its layout, and one that reads it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from grader.intake.archive import archive_suffix, is_archive
from grader.intake.contents import is_packed
from grader.intake.handed import METADATA, Handed, Layout, Part, Taken, Unmatched, grouped, mostly
from grader.intake.match import CODE, attempt_of, named, owner_in, without_downloads
from grader.model import Exercise
from grader.model.errors import SubmissionError

# Gradescope: a folder for each submission, and a file that says whose each is; a group has several authors.

_FOLDER = "submission_"


class _Yaml(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # in C where there is one
    """Reads YAML that Ruby wrote: its symbols stay texts, and its objects are what they hold."""


def _plain_yaml(loader: Any, suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


_Yaml.add_multi_constructor("!ruby/", _plain_yaml)


def _fits_gradescope(items: Sequence[Path]) -> bool:
    return any(item.name in METADATA for item in items)


def _read_gradescope(items: Sequence[Path], exercises: Sequence[Exercise]) -> Taken:
    metadata = _metadata(next((item for item in items if item.name in METADATA), None))
    handed: dict[str, tuple[str, str, tuple[str, ...]]] = {}  # when, in which folder, whose
    unmatched = []
    folders = {item.name: item for item in items if item.is_dir()}
    unnamed = [
        item.name for item in items if item.name not in METADATA and item.name not in folders.keys() & metadata.keys()
    ]
    unmatched += [Unmatched(name, "", "submission_metadata.yml does not name it") for name in unnamed]
    for name, row in metadata.items():
        people = [_person(person) for person in row.get("submitters") or []]
        authors = tuple(sorted({person for person in people if person})) or (name,)
        key, when = "+".join(authors), str(row.get("created_at", ""))
        if key in handed and when < handed[key][0]:
            unmatched.append(Unmatched(name, key, "an earlier attempt; the latest counts"))
            continue
        if key in handed:
            unmatched.append(Unmatched(handed[key][1], key, "an earlier attempt; the latest counts"))
        handed[key] = when, name, authors
    parts = {name: (Part(folder),) for name, folder in folders.items()}
    # Of whom nothing lies here, there is a row all the same.
    unmatched += [
        Unmatched(name, key, "it is not in the export") for key, (_, name, _) in handed.items() if name not in parts
    ]
    return [Handed(key, authors, parts.get(name, ())) for key, (_, name, authors) in handed.items()], unmatched


def _metadata(path: Path | None) -> dict[str, dict[str, Any]]:
    """What the export says of each folder, without the colons of Ruby's symbols."""
    if path is None:
        raise SubmissionError(f"there is no {METADATA[0]} here, which says whose each submission is; download it too")
    try:
        data = yaml.load(path.read_bytes(), Loader=_Yaml)  # noqa: S506  a safe loader
    except (yaml.YAMLError, RecursionError, ValueError, OSError) as error:
        raise SubmissionError(f"{path} cannot be read: {' '.join(str(error).split())}; download it again") from None
    if not isinstance(data, dict):
        raise SubmissionError(f"{path} does not say whose the submissions are; download it again")
    return {str(name).lstrip(":"): _symbols(row) for name, row in data.items() if isinstance(row, dict)}


def _symbols(row: dict[Any, Any]) -> dict[str, Any]:
    return {str(key).lstrip(":"): value for key, value in row.items()}


def _person(data: Any) -> str:
    """What identifies a person: the most likely to be unique first."""
    known = _symbols(data) if isinstance(data, dict) else {}
    return next((str(known[key]).strip() for key in ("email", "sid", "name") if known.get(key)), "")


GRADESCOPE = Layout("gradescope", "a Gradescope export", _fits_gradescope, _read_gradescope)


# Moodle: a folder for each author, or one flat folder; named, blind, or of teams.

# `<name>_<number>_assignsubmission_file[_]` is a folder, `<name>_<number>_assignsubmission_file_<file>` a file. Blind,
# the name is `Participant`; of a team, the name and the number are the team's.
_MOODLE = re.compile(r"(?P<who>.+)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?")


def _fits_moodle(items: Sequence[Path]) -> bool:
    return mostly(items, lambda item: bool(_MOODLE.fullmatch(item.name)))


def _read_moodle(items: Sequence[Path], exercises: Sequence[Exercise]) -> Taken:
    rows, unmatched = [], []
    for item in items:
        parsed = _MOODLE.fullmatch(item.name)
        if parsed is None:
            unmatched.append(
                Unmatched(item.name, "", "its name does not begin with an author's name, as Moodle's files do")
            )
            continue
        key = f"{parsed['who']}_{parsed['number']}"
        if parsed["kind"] != "file":
            unmatched.append(Unmatched(item.name, key, "a text that was typed into Moodle; only files are graded"))
            continue
        name = PurePosixPath() if item.is_dir() else PurePosixPath(parsed["file"] or item.name)
        rows.append((key, Part(item, name), ""))
    return grouped(rows, [row.author for row in unmatched if row.author]), unmatched


MOODLE = Layout("moodle", "a Moodle download", _fits_moodle, _read_moodle)


# Canvas: one flat zip, in which the name of a file begins with its author's, and the numbers of both.

# `<name in lower case>[_LATE]_<user>_<attachment>_<file>`, `[LATE_]anon_<id>_<attachment>_<file>`. A name may have
# underscores: the two numbers are what can be held on to.
_CANVAS = re.compile(r"(?P<name>.+?)(?P<late>(?i:_late))?_(?P<user>\d+)_(?P<attachment>\d+)_(?P<file>.+)")
_ANONYMOUS = re.compile(r"(?P<late>(?i:late_))?(?P<name>anon)_(?P<user>[^_]+)_(?P<attachment>\d+)_(?P<file>.+)")
_PAGE = re.compile(r"(?:(?P<name>.+?)(?i:_late)?_(?P<user>\d+)|(?i:late_)?anon_[^_]+)_(?:text|link)\.html")


def _canvas_name(name: str) -> re.Match[str] | None:
    return _ANONYMOUS.fullmatch(name) or _CANVAS.fullmatch(name)


def _fits_canvas(items: Sequence[Path]) -> bool:
    files = [item for item in items if not item.is_dir()]
    named = [item for item in files if _canvas_name(item.name)]
    return bool(named) and mostly(items, lambda item: item in named or bool(_PAGE.fullmatch(item.name)))


def _read_canvas(items: Sequence[Path], exercises: Sequence[Exercise]) -> Taken:
    rows, unmatched = [], []
    for item in items:
        parsed = None if item.is_dir() else _canvas_name(item.name)
        if parsed is not None:
            key, note = f"{parsed['name']}_{parsed['user']}", "handed in late, as Canvas says" if parsed["late"] else ""
            rows.append((key, Part(item, PurePosixPath(parsed["file"])), note))
        elif page := _PAGE.fullmatch(item.name):
            author = f"{page['name']}_{page['user']}" if page["user"] else ""
            unmatched.append(
                Unmatched(item.name, author, "a text or an address that was typed into Canvas; only files are graded")
            )
        else:
            unmatched.append(
                Unmatched(item.name, "", "its name does not begin with an author's name, as Canvas's files do")
            )
    return grouped(rows, [row.author for row in unmatched if row.author]), unmatched


CANVAS = Layout("canvas", "a Canvas download", _fits_canvas, _read_canvas)


# nbgrader: `submitted/<author>/<assignment>/`, with the time of each in a file.

_TIME = "timestamp.txt"


def _fits_nbgrader(items: Sequence[Path]) -> bool:
    return any(item.is_dir() and any(item.glob(f"*/{_TIME}")) for item in items)


def _read_nbgrader(items: Sequence[Path], exercises: Sequence[Exercise]) -> Taken:
    handed = []
    for item in items:
        if item.is_dir():
            inner = sorted(path for path in item.iterdir() if path.is_dir() and not path.is_symlink())
            parts = tuple(Part(path, PurePosixPath(path.name)) for path in inner)
            handed.append(Handed(item.name, (item.name,), parts))
    unmatched = [Unmatched(item.name, "", "a file beside the authors' folders") for item in items if not item.is_dir()]
    return handed, unmatched


NBGRADER = Layout("nbgrader", "nbgrader's submitted folder", _fits_nbgrader, _read_nbgrader)


# Clones of students' repositories, as `gh classroom clone student-repos` lays them out.

_SUFFIX = "-submissions"


def _is_clone(item: Path) -> bool:
    return item.is_dir() and (item / ".git").exists()


def _fits_clones(items: Sequence[Path]) -> bool:
    return mostly(items, _is_clone)


def _read_clones(items: Sequence[Path], exercises: Sequence[Exercise]) -> Taken:
    folders = [item for item in items if item.is_dir()]
    slug = _slug(folders)
    handed = []
    for item in folders:
        author = item.name.removeprefix(slug)
        handed.append(Handed(author, (author,), (Part(item),)))
    files = [item for item in items if not item.is_dir()]
    return handed, [Unmatched(item.name, "", "a file beside the repositories") for item in files]


def _slug(folders: Sequence[Path]) -> str:
    """What the names of repositories begin with: the assignment's, and a hyphen."""
    names = [item.name for item in folders]
    parent = folders[0].parent.name if folders else ""
    prefix = parent.removesuffix(_SUFFIX) + "-" if parent.endswith(_SUFFIX) else ""
    if prefix and all(name.startswith(prefix) and name != prefix for name in names):
        return prefix
    if len(names) < 2:
        return ""
    # Up to a hyphen, so that no letters of authors' names that are alike go with it.
    ends = (place + 1 for place, letter in enumerate(names[0]) if letter == "-")
    shared = [names[0][:end] for end in ends if all(name.startswith(names[0][:end]) for name in names)]
    return shared[-1] if shared and shared[-1] not in names else ""


CLONES = Layout("clones", "clones of repositories", _fits_clones, _read_clones)


# A folder made by hand: for each author a folder, a zip or a single file; or the files of one author alone.

_LEAST_OWNED = 4
"""So many authors' files of one exercise for each file that does not say whose it is."""


def _fits_plain(items: Sequence[Path]) -> bool:
    return True


def _read_plain(items: Sequence[Path], exercises: Sequence[Exercise]) -> Taken:
    one = _of_one_author(items, exercises)
    if one is not None:
        return [one], []
    rows, unmatched = [], []
    for item in items:
        suffix = item.suffix.lower()
        if item.is_dir():
            rows.append((item.name, Part(item), ""))
        elif is_archive(item.name):
            stem = item.name[: -len(archive_suffix(item.name))]
            rows.append((without_downloads(stem), Part(item, PurePosixPath(item.name)), ""))
        elif is_packed(item.name):
            rows.append((without_downloads(item.stem), Part(item, PurePosixPath(item.name)), ""))
        elif suffix not in CODE:
            unmatched.append(Unmatched(item.name, "", "neither a folder nor a zip, nor Python, nor a notebook"))
        elif owner := owner_in(item.stem, exercises):  # ada_double.py
            rows.append((owner, Part(item, PurePosixPath(item.name)), ""))
        elif named(item.name, exercises):
            unmatched.append(
                Unmatched(item.name, "", "it is named like an exercise, and its name does not say whose it is")
            )
        else:  # ada.py: what it is of, its contents say
            rows.append((without_downloads(item.stem), Part(item, PurePosixPath(item.name)), ""))
    return grouped(rows), unmatched


def _of_one_author(items: Sequence[Path], exercises: Sequence[Exercise]) -> Handed | None:
    """The folder as what one author handed in, where files of exercises lie in it, and nothing that is an author's."""
    code = [item for item in items if item.suffix.lower() in CODE and not item.is_dir()]
    own = [item for item in code if named(item.name, exercises)]
    others = [item for item in items if item.is_dir() or is_archive(item.name)]
    if not own or others or len(own) < len(code) or _of_several(own, exercises):
        return None
    folder = items[0].parent.resolve()
    return Handed(folder.name, (folder.name,), (Part(folder),))


def _of_several(items: Sequence[Path], exercises: Sequence[Exercise]) -> bool:
    """Whether one exercise has files of several names besides its own: ada_double.py and bo_double.py.

    In a class somebody may have left the name out; where many have, they are one author's.
    """
    owners: dict[str, set[str]] = {}
    bare = 0
    for item in items:
        owner, name = owner_in(item.stem, exercises), named(item.name, exercises)
        if not owner or name is None:
            bare += 1
        elif not attempt_of(PurePosixPath(owner, item.name)):
            owners.setdefault(name.exercise, set()).add(owner)
    return any(len(own) > 1 and len(own) >= _LEAST_OWNED * bare for own in owners.values())


PLAIN = Layout("plain", "a folder for each author", _fits_plain, _read_plain)
