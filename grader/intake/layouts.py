"""A folder or a zip of a class's submissions → what everybody handed in, whichever platform made it.

Gradescope, Moodle, Canvas, nbgrader, GitHub Classroom, a folder by hand: each has one function that recognizes its
layout, and one that reads it.
"""

from __future__ import annotations

import csv
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo

import yaml

from grader.course.files import suggestion
from grader.course.layout import CLONED, ZIP, is_course
from grader.intake.collect import unpacked
from grader.intake.contents import ALL_OF_IT, METADATA, Handed, Part, Unmatched, archive_suffix, is_junk, is_packed
from grader.intake.match import CODE, named, without_downloads
from grader.model import Exercise
from grader.model.errors import SubmissionError
from grader.model.score import counted

Taken = tuple[Sequence[Handed], Sequence[Unmatched]]
"""What was handed in, and what belongs to no author."""


@dataclass(frozen=True)
class Layout:
    """How one platform lays out what it gives.

    Attributes:
        name: as it is typed.
        title: for people: "a Canvas download".
        fits: whether the items of a folder are laid out so.
        read: the items of a folder, and all exercises of the course, as what was handed in.
    """

    name: str
    title: str
    fits: Callable[[Sequence[Path]], bool]
    read: Callable[[Sequence[Path], Sequence[Exercise]], Taken]


@dataclass(frozen=True)
class Intake:
    """A folder of submissions, understood.

    Attributes:
        layout: how it is laid out.
        root: the folder in which the submissions lie.
        source: what was named: that folder, one around it, or a zip.
        handed: what was handed in, by key.
        unmatched: what belongs to no author.
    """

    layout: Layout
    root: Path
    source: Path
    handed: tuple[Handed, ...]
    unmatched: tuple[Unmatched, ...]

    def title(self) -> str:
        """What was handed in, in one line."""
        parts = sum(len(item.parts) for item in self.handed)
        people = len({author for item in self.handed for author in item.authors})
        groups = f", {counted(len(self.handed), 'submission')}" if len(self.handed) != people else ""
        files = f"{counted(parts, 'file')} of " if parts > len(self.handed) else ""
        return f"{self.layout.title}: {files}{counted(people, 'author')}{groups}"


_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)(?:\.\d+)? ?(\S*)")


def _mostly(items: Sequence[Path], fits: Callable[[Path], bool]) -> bool:
    """Whether more than half of the items are so: somebody may have put a file of their own beside a download."""
    return 2 * sum(map(fits, items)) > len(items)


def _by_name(items: Sequence[Path], of: Callable[[Path], Handed | Unmatched]) -> Taken:
    """What was handed in, where the name of each item says whose it is."""
    rows = [of(item) for item in items]
    unmatched = [row for row in rows if isinstance(row, Unmatched)]
    # Who has nothing that can be read still gets a row.
    handed = {row.author: Handed(row.author, (row.author,), ()) for row in unmatched if row.author}
    for row in rows:
        if isinstance(row, Handed):
            first = handed.get(row.key, row)
            own = replace(first, parts=(*first.parts, *row.parts), late=first.late or row.late)
            handed[row.key] = own if first is not row and first.parts else row
    return list(handed.values()), unmatched


def _of(key: str, part: Part) -> Handed:
    return Handed(key, (key,), (part,))


def _nobodys(item: Path, why: str) -> Unmatched:
    return Unmatched(item.name, "", why)


# Gradescope: a folder for each submission, and a file that says whose each is; a group has several authors.


class _Yaml(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # in C where there is one
    """Reads YAML that Ruby wrote: its symbols stay texts, and its objects are what they hold."""


def _plain_yaml(loader: Any, suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


_Yaml.add_multi_constructor("!ruby/", _plain_yaml)
_Yaml.add_constructor("tag:yaml.org,2002:str", lambda loader, node: loader.construct_scalar(node).lstrip(":"))


def _read_gradescope(items: Sequence[Path], exercises: Sequence[Exercise]) -> Taken:
    metadata = _metadata(next((item for item in items if item.name in METADATA), None))
    folders = {item.name: item for item in items if item.is_dir()}
    known = {*METADATA, *(folders.keys() & metadata.keys())}
    unmatched = [_nobodys(item, f"{METADATA[0]} does not name it") for item in items if item.name not in known]
    latest: dict[str, tuple[str, Handed]] = {}  # with the name of the folder
    for name, row in sorted(metadata.items(), key=lambda item: _created(item[1])):
        authors = tuple(sorted(filter(None, set(map(_person, row.get("submitters") or []))))) or (name,)
        key, parts = "+".join(authors), (Part(folders[name]),) if name in folders else ()
        if key in latest:
            unmatched.append(Unmatched(latest[key][0], key, "an earlier attempt; the latest counts"))
        latest[key] = name, Handed(key, authors, parts, at=_created(row))
    # An author whose folder is missing has a row all the same.
    unmatched += [
        Unmatched(name, key, "it is not in the export") for key, (name, _) in latest.items() if name not in folders
    ]
    return [handed for _, handed in latest.values()], unmatched


def _created(row: dict[str, Any]) -> str:
    """When a submission was made, in ISO 8601; Ruby may have written it as an object."""
    made = row.get("created_at", "")
    made = made.get("utc", "") if isinstance(made, dict) else made
    return _iso(made if isinstance(made, datetime) else str(made))


def _iso(time: datetime | str) -> str:
    """A time that a platform wrote, in ISO 8601: in UTC, if it names a zone; "" if it is not one."""
    try:
        if isinstance(time, str):
            if (match := _STAMP.match(time.strip())) is None:
                return ""
            day, clock, zone = match.groups()
            time = datetime.fromisoformat(f"{day} {clock}{zone if zone[:1] in ('+', '-') else ''}")
            if zone and time.tzinfo is None:
                time = time.replace(tzinfo=ZoneInfo("UTC" if zone == "Z" else zone))
        return (time.astimezone(UTC) if time.tzinfo else time).isoformat()
    except (ValueError, KeyError, OSError):
        return ""


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
    return {str(name): row for name, row in data.items() if isinstance(row, dict)}


def _person(data: Any) -> str:
    """What identifies a person: the most likely to be unique first."""
    known = data if isinstance(data, dict) else {}
    return next((str(known[key]).strip() for key in ("email", "sid", "name") if known.get(key)), "")


GRADESCOPE = Layout(
    "gradescope", "a Gradescope export", lambda items: any(item.name in METADATA for item in items), _read_gradescope
)


# Moodle: a folder for each author, or one flat folder; named, blind, or of teams.

# `<name>_<number>_assignsubmission_file[_]` is a folder, `<name>_<number>_assignsubmission_file_<file>` a file. Blind,
# the name is `Participant`; of a team, name and number are the team's; in older versions each member has a copy, behind
# `<team>-`. The number alone decides: a name may be changed. What is given back by a zip is found in the same way, and
# there the name must not have an underscore.
_MOODLE = re.compile(r"(?P<who>.+)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?")


def _of_moodle(item: Path) -> Handed | Unmatched:
    parsed = _MOODLE.fullmatch(item.name)
    if parsed is None:
        return _nobodys(item, "its name does not begin with an author's name, as Moodle's files do")
    key = parsed["number"]
    if parsed["kind"] != "file":
        why = "a text that was typed into Moodle; only files are graded"
        return Unmatched(item.name.removeprefix(f"{parsed['who']}_"), key, why)
    part = Part(item, ALL_OF_IT if item.is_dir() else PurePosixPath(parsed["file"] or item.name))
    returned = f"Participant_{key}_assignsubmission_file_/"
    return Handed(key, (key,), (part,), name=parsed["who"], returned=returned)


MOODLE = Layout(
    "moodle",
    "a Moodle download",
    lambda items: _mostly(items, lambda item: bool(_MOODLE.fullmatch(item.name))),
    lambda items, _: _by_name(items, _of_moodle),
)


# Canvas: one flat zip, in which the name of a file begins with its author's, and the numbers of both.

# `<name in lower case>[_LATE]_<user>_<attachment>_<file>`, `[LATE_]anon_<id>_<attachment>_<file>`. A name may have
# underscores: the two numbers are what can be held on to, and by them a file is given back.
_CANVAS = re.compile(r"(?P<name>.+?)(?P<late>(?i:_late))?_(?P<user>\d+)_(?P<attachment>\d+)_(?P<file>.+)")
_ANONYMOUS_NAME = "anon"
_ANONYMOUS = re.compile(r"(?P<late>(?i:late_))?(?P<name>anon)_(?P<user>[^_]+)_(?P<attachment>\d+)_(?P<file>.+)")
_PAGE = re.compile(r"(?:(?P<name>.+?)(?i:_late)?_(?P<user>\d+)|(?i:late_)?anon_[^_]+)_(?:text|link)\.html")


def _canvas_name(name: str) -> re.Match[str] | None:
    return _ANONYMOUS.fullmatch(name) or _CANVAS.fullmatch(name)


def _fits_canvas(items: Sequence[Path]) -> bool:
    return _mostly(items, lambda item: item.is_file() and bool(_canvas_name(item.name) or _PAGE.fullmatch(item.name)))


def _of_canvas(item: Path) -> Handed | Unmatched:
    if not item.is_dir() and (parsed := _canvas_name(item.name)):
        part, anonymous = Part(item, PurePosixPath(parsed["file"])), parsed["name"] == _ANONYMOUS_NAME
        key = f"{_ANONYMOUS_NAME}_{parsed['user']}" if anonymous else parsed["user"]
        returned = f"{'' if anonymous else 'user_'}{key}_{parsed['attachment']}_"
        name, late = "" if anonymous else parsed["name"], bool(parsed["late"])
        return Handed(key, (key,), (part,), late=late, name=name, returned=returned)
    if page := _PAGE.fullmatch(item.name):
        why = "a text or an address that was typed into Canvas; only files are graded"
        return Unmatched(item.name.removeprefix(f"{page['name']}_"), page["user"] or "", why)
    return _nobodys(item, "its name does not begin with an author's name, as Canvas's files do")


CANVAS = Layout("canvas", "a Canvas download", _fits_canvas, lambda items, _: _by_name(items, _of_canvas))


# nbgrader: `submitted/<author>/<assignment>/`, with the time of each in a file.

_TIME = "timestamp.txt"
_LONGEST_TIME = 100


def _fits_nbgrader(items: Sequence[Path]) -> bool:
    return any(item.is_dir() and any(item.glob(f"*/{_TIME}")) for item in items)


def _read_nbgrader(items: Sequence[Path], exercises: Sequence[Exercise]) -> Taken:
    handed = []
    for item in (item for item in items if item.is_dir()):
        inner = sorted(path for path in item.iterdir() if path.is_dir() and not path.is_symlink())
        parts = tuple(Part(path, PurePosixPath(path.name)) for path in inner)
        times = [_iso(_first(path)) for path in item.glob(f"*/{_TIME}") if path.is_file() and not path.is_symlink()]
        handed.append(Handed(item.name, (item.name,), parts, at=max(times, default="")))
    return handed, [_nobodys(item, "a file beside the authors' folders") for item in items if not item.is_dir()]


def _first(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline(_LONGEST_TIME)


NBGRADER = Layout("nbgrader", "nbgrader's submitted folder", _fits_nbgrader, _read_nbgrader)


# Clones of students' repositories, as `gh classroom clone student-repos` lays them out.

_SUFFIX = "-submissions"


def _fits_clones(items: Sequence[Path]) -> bool:
    return _mostly(items, lambda item: item.is_dir() and (item / ".git").exists())


def _read_clones(items: Sequence[Path], exercises: Sequence[Exercise]) -> Taken:
    folders = [item for item in items if item.is_dir()]
    slug = _slug(folders)
    handed = [Handed(author, (author,), (Part(item),)) for item in folders if (author := item.name.removeprefix(slug))]
    return handed, [_nobodys(item, "a file beside the repositories") for item in items if not item.is_dir()]


def _slug(folders: Sequence[Path]) -> str:
    """What the names of repositories begin with: the assignment's, and a hyphen."""
    names = [item.name for item in folders]
    parent = folders[0].parent.name if folders else ""
    prefix = parent.removesuffix(_SUFFIX) + "-" if parent.endswith(_SUFFIX) else ""
    if prefix and all(name.startswith(prefix) and name != prefix for name in names):
        return prefix
    # Up to a hyphen, so that no letters of authors' names that are alike go with it.
    shared = os.path.commonprefix(names) if len(names) > 1 else ""  # noqa: RUF071  of letters
    slug = shared[: shared.rfind("-") + 1]
    return slug if slug not in names else ""


CLONES = Layout("clones", "clones of repositories", _fits_clones, _read_clones)


# A folder made by hand: for each author a folder, a zip or a single file.


def _of_somebody(exercises: Sequence[Exercise], item: Path) -> Handed | Unmatched:
    if item.is_dir():
        return _of(item.name, Part(item))
    part = Part(item, PurePosixPath(item.name))
    if is_packed(item.name):
        return _of(without_downloads(item.name[: -len(archive_suffix(item.name) or item.suffix)]), part)
    if item.suffix.lower() not in CODE:
        return _nobodys(item, "neither a folder nor a zip, nor Python, nor a notebook")
    if (name := named(item.name, exercises)) and name.owner:  # ada_double.py
        return _of(name.owner, part)
    if name:
        return _nobodys(item, "it is named like an exercise, and its name does not say whose it is")
    return _of(without_downloads(item.stem), part)  # ada.py: its contents say what it is of


PLAIN = Layout(
    "plain",
    "a folder for each author",
    lambda items: True,
    lambda items, exercises: _by_name(items, partial(_of_somebody, exercises)),
)


LAYOUTS: tuple[Layout, ...] = (GRADESCOPE, MOODLE, CANVAS, NBGRADER, CLONES, PLAIN)
"""The most telling first; the last one fits anything."""

OUT_MARK = "journal.sqlite"
"""A file that only the folder of a batch's results has."""

_DEEPEST = 4


@contextmanager
def taken_in(
    path: Path, exercises: Sequence[Exercise], name: str | None = None, out: Path | None = None
) -> Iterator[Intake]:
    """What lies in a folder or a zip, for as long as this lasts.

    Args:
        path: the folder, or a zip of it.
        exercises: all exercises of the course.
        name: of the layout; None to find it out.
        out: the folder of the batch's results, which belongs to no author.

    Raises:
        SubmissionError: nothing can be read there, or it has no submission.
    """
    known = {layout.name: layout for layout in LAYOUTS}
    if name is not None and name not in known:
        raise SubmissionError(f"there is no layout {name!r}{suggestion(name, list(known))}")
    with ExitStack() as opened:
        folder, source, left = path, path, list[Unmatched]()
        if _is_zip(path):
            folder, left = opened.enter_context(unpacked(path))
        elif not path.is_dir():
            raise SubmissionError(f"{path} is neither a folder with submissions nor a zip of one")
        root, items = _inner(folder, exercises, out)
        if len(items) == 1 and _is_zip(items[0]):
            within, rows = opened.enter_context(unpacked(items[0]))
            # A class's download in a folder of its own, or the one author whose zip it is.
            inner = _inner(within, exercises, out)
            if _recognized(inner[1]) is not PLAIN or _is_class(inner[1], exercises):
                (root, items), source, left = inner, items[0], rows
        layout = _recognized(items) if name is None else known[name]
        if name is None and layout is PLAIN and _is_one_authors(root, items, exercises):
            raise SubmissionError(
                f"{source} has the files of one author, and not a folder or a zip for each author. To grade them:  "
                f"grade --submission {source}  . If these are authors, repeat the command with  --layout plain"
            )
        try:
            handed, unmatched = layout.read(items, exercises)
        except OSError as error:
            raise SubmissionError(f"{error.filename or root} cannot be read: {error.strerror}") from None
        if not handed:
            raise SubmissionError(
                f"{source} has no submissions: a folder or a zip for each author is expected, or what Canvas, Moodle, "
                "Gradescope, GitHub Classroom or nbgrader give"
            )
        names = sorted(path.name for path in root.iterdir() if path.is_symlink() and not is_junk(path.name))
        links = [Unmatched(name, "", "a link, which is not followed") for name in names]
        # By name and not by bytes, so that the gradebook is the same wherever it is made.
        times = _times(root)
        dated = (replace(one, at=times.get(one.key, one.at)) for one in handed)
        ordered = tuple(sorted(dated, key=lambda one: (one.key, [str(part.path) for part in one.parts[:1]])))
        yield Intake(layout, root, source, ordered, (*unmatched, *links, *_twice(ordered), *left))


def _times(root: Path) -> Mapping[str, str]:
    """When the commit of each folder was made, if `grade clone` laid them out."""
    table = root.with_name(f"{root.name}.csv")
    if not table.is_file():
        return {}
    with table.open(encoding="utf-8", errors="replace", newline="") as file:
        rows = list(csv.reader(file))
    return {row[0]: row[3] for row in rows[1:]} if rows[:1] == [[*CLONED]] else {}


def _twice(handed: Sequence[Handed]) -> Iterator[Unmatched]:
    """Authors of whom there are several submissions, alone and in groups: staff must decide which of them counts."""
    own = defaultdict[str, list[str]](list)
    for one in handed:
        for author in one.authors:
            own[author].append(one.key)
    for author, keys in own.items():
        if len(keys) > 1:
            yield Unmatched("", author, f"a row each of several submissions counts: {', '.join(keys)}")


def _recognized(items: Sequence[Path]) -> Layout:
    return next(layout for layout in LAYOUTS if layout.fits(items))


def _inner(folder: Path, exercises: Sequence[Exercise], out: Path | None) -> tuple[Path, list[Path]]:
    """The folder in which the submissions lie: there may be others around it that have nothing else in them."""
    items = _items(folder, out)
    inner, inside = folder, items
    for _ in range(_DEEPEST):
        folders = [item for item in inside if item.is_dir()]
        # In a folder of nbgrader's course it lies among others, which are its teacher's.
        for item in (item for item in folders if item.name == "submitted"):
            if NBGRADER.fits(own := _items(item, out)):
                return item, own
        if _recognized(inside) is not PLAIN or _is_class(inside, exercises):
            return inner, inside
        if len(folders) != 1 or len(inside) > 1:
            break
        inner = folders[0]
        inside = _items(inner, out)
    return folder, items


def _is_class(items: Sequence[Path], exercises: Sequence[Exercise]) -> bool:
    """Whether several of the items have a file of the same exercise, as those of several authors have."""
    seen: set[str] = set()
    zips = 0
    for item in items:
        zips += is_packed(item.name) and not item.is_dir()
        if item.is_dir():
            own = {name.exercise for path in item.rglob("*.*") if (name := named(path.name, exercises))}
            if own & seen:
                return True
            seen |= own
    return zips > 1


def _is_one_authors(root: Path, items: Sequence[Path], exercises: Sequence[Exercise]) -> bool:
    """Whether a folder is what one author has: a course, or nothing but files and folders that exercises have."""
    if is_course(root):
        return True
    folders = [item for item in items if item.is_dir()]
    code = [item for item in items if not item.is_dir() and item.suffix.lower() in CODE]
    files = [item for item in code if (name := named(item.name, exercises)) and not name.owner]
    if len(files) < len(code) or not (files or folders) or any(is_packed(item.name) for item in items):
        return False
    return {folder.name for folder in folders} <= {name for item in exercises for name in (item.id, item.module)}


def _items(folder: Path, out: Path | None) -> list[Path]:
    """What lies in a folder, by name: nothing hidden, no links, no results of a batch."""
    try:
        paths = sorted(path for path in folder.iterdir() if not is_junk(path.name) and not path.is_symlink())
    except OSError as error:
        raise SubmissionError(f"{folder} cannot be read: {error.strerror}") from None
    # Results of this batch, by any path to them, or of another one.
    own = out if out is not None and out.exists() else None
    return [path for path in paths if not (path / OUT_MARK).is_file() and not (own and path.samefile(own))]


def _is_zip(path: Path) -> bool:
    return path.is_file() and path.suffix.lower() == ZIP
