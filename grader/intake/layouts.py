"""A folder or a zip of a class's submissions → what everybody handed in, whichever platform made it.

Gradescope, Moodle, Canvas, nbgrader, GitHub Classroom, a folder by hand: each has one function that recognizes its
layout, and one that reads it.
"""

from __future__ import annotations

import csv
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo

import yaml

from grader.course.files import suggestion
from grader.course.layout import CLONED, ZIP, is_course
from grader.intake.archive import ALL_OF_IT, archive_suffix, code_stem, is_junk, is_packed
from grader.intake.collect import Download, Intake
from grader.intake.contents import METADATA, TIME, Handed, Part, Unmatched, unpack
from grader.intake.match import answer_name_test, exercise_of_file_name, without_download_number
from grader.model import Exercise
from grader.model.errors import SubmissionError

Taken = tuple[Sequence[Handed], Sequence[Unmatched]]
"""What was handed in, and what belongs to no author."""


@dataclass(frozen=True)
class Layout:
    """The layout of one platform's downloads.

    Attributes:
        name: the name of the layout, as it is typed.
        title: the name for people: "a Canvas download".
        fits: a function that returns True if the items of a folder are laid out so.
        read: a function that takes the items of a folder and all exercises, and returns what was handed in.
    """

    name: str
    title: str
    fits: Callable[[Sequence[Path]], bool]
    read: Callable[[Sequence[Path], Sequence[Exercise]], Taken]


_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)(?:\.\d+)? ?(?:(?:UTC|GMT)(?=[+-]))?(\S*)")


def _most_fit(items: Sequence[Path], fits: Callable[[Path], bool]) -> bool:
    """Return whether more than half of a folder's items look like a platform's download.

    Some may look otherwise: somebody may have put another file beside a download.

    Args:
        items: the items of the folder.
        fits: a function that returns True for an item that looks so, such as `ada_512_7001_double.py` for Canvas.
    """
    return 2 * sum(map(fits, items)) > len(items)


def _group_by_author(items: Sequence[Path], of: Callable[[Path], Handed | Unmatched]) -> Taken:
    """Group the items of a download by the author that each item's name says.

    For example, `ada_double.py` and `ada_total.py` become the two parts of one `Handed` of `ada`.

    Args:
        items: the items of a download.
        of: a function that returns an item as the `Handed` of the author that its name says, or an `Unmatched` that
            says why not.
    """
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


def _handed_by(key: str, part: Part) -> Handed:
    return Handed(key, (key,), (part,))


def _without_author(item: Path, why: str) -> Unmatched:
    return Unmatched(item.name, "", why)


# Gradescope: a folder for each submission, and a file that says whose each is; a group has several authors.


class _Yaml(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # in C where there is one
    """Loads YAML that Ruby wrote: a symbol becomes a string, and an object the mapping, list or value in it."""


def _plain_yaml(loader: Any, suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


_Yaml.add_multi_constructor("!ruby/", _plain_yaml)
_Yaml.add_constructor("tag:yaml.org,2002:str", lambda loader, node: loader.construct_scalar(node).lstrip(":"))


def _read_gradescope(items: Sequence[Path], exercises: Sequence[Exercise]) -> Taken:
    """Read an export of Gradescope; its metadata say who the authors of each folder are."""
    metadata = _gradescope_metadata(next((item for item in items if item.name in METADATA), None))
    folders = {item.name: item for item in items if item.is_dir()}
    known = {*METADATA, *(folders.keys() & metadata.keys())}
    unmatched = [_without_author(item, f"{METADATA[0]} does not name it") for item in items if item.name not in known]
    latest: dict[str, tuple[str, Handed]] = {}  # with the name of the folder
    for name, row in sorted(metadata.items(), key=lambda item: _gradescope_time(item[1])):
        authors = tuple(sorted(filter(None, set(map(_gradescope_person, row.get("submitters") or []))))) or (name,)
        key, parts = "+".join(authors), (Part(folders[name]),) if name in folders else ()
        if key in latest:
            unmatched.append(Unmatched(latest[key][0], key, "an earlier attempt; the latest counts"))
        at, unread = _gradescope_time(row), str(row.get("created_at") or "")
        latest[key] = name, Handed(key, authors, parts, at=at, unread="" if at else unread)
    # An author whose folder is missing has a row all the same.
    unmatched += [
        Unmatched(name, key, "it is not in the export") for key, (name, _) in latest.items() if name not in folders
    ]
    return [handed for _, handed in latest.values()], unmatched


def _gradescope_time(row: dict[str, Any]) -> str:
    """Return the time at which a submission was made, such as "2026-03-01T12:00:00+00:00".

    It is "" without a time.

    Args:
        row: the submission's entry in Gradescope's metadata, in which the time may be an object that Ruby wrote.
    """
    made = row.get("created_at", "")
    made = made.get("utc", "") if isinstance(made, dict) else made
    return _to_iso_time(made if isinstance(made, datetime) else str(made))


def _to_iso_time(time: datetime | str) -> str:
    """Convert a platform's time to ISO 8601; return "" if it is not a time.

    A time with a zone is converted to UTC: "2026-03-01 13:00:00 +0100" becomes "2026-03-01T12:00:00+00:00".
    """
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


def _gradescope_metadata(path: Path | None) -> dict[str, dict[str, Any]]:
    """Read Gradescope's metadata, which say who handed in what, and when.

    Return each folder's entry by the folder's name, such as
    `{"submission_7": {"submitters": [...], "created_at": ...}}`.
    """
    if path is None:
        raise SubmissionError(f"there is no {METADATA[0]} here, which says whose each submission is; download it too")
    try:
        data = yaml.load(path.read_bytes(), Loader=_Yaml)  # noqa: S506  a safe loader
    except (yaml.YAMLError, RecursionError, ValueError, OSError) as error:
        raise SubmissionError(f"{path} cannot be read: {' '.join(str(error).split())}; download it again") from None
    if not isinstance(data, dict):
        raise SubmissionError(f"{path} does not say whose the submissions are; download it again")
    return {str(name): row for name, row in data.items() if isinstance(row, dict)}


def _gradescope_person(data: Any) -> str:
    """Return what identifies a person in Gradescope's metadata: the e-mail address, if any.

    Without an address, it is the person's number, and without that the name. "" if all are missing.
    """
    known = data if isinstance(data, dict) else {}
    return next((str(known[key]).strip() for key in ("email", "sid", "name") if known.get(key)), "")


GRADESCOPE = Layout(
    "gradescope", "a Gradescope export", lambda items: any(item.name in METADATA for item in items), _read_gradescope
)


# Moodle: a folder for each author, or one flat folder; named, blind, or of teams.

# `<name>_<number>_assignsubmission_file[_]` is a folder, `<name>_<number>_assignsubmission_file_<file>` a file. Blind,
# the name is `Participant`; of a team, name and number are the team's; in older versions each member has a copy, behind
# `<team>-`. The number alone decides: a name may be changed. Moodle leaves no underscore in a name, so the first number
# is the author's, for any name of a file. The default group has none; a roster says who is in it. What is
# given back by a zip is found in the same way.
_MOODLE = re.compile(r"(?P<who>.+?)(?:_(?P<number>\d+))?_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?")


def _read_moodle_item(item: Path) -> Handed | Unmatched:
    parsed = _MOODLE.fullmatch(item.name)
    if parsed is None:
        return _without_author(item, "its name does not begin with an author's name, as Moodle's files do")
    key = parsed["number"] or parsed["who"]
    if parsed["kind"] != "file":
        why = "a text that was typed into Moodle; only files are graded"
        return Unmatched(item.name.removeprefix(f"{parsed['who']}_"), key, why)
    part = Part(item, ALL_OF_IT if item.is_dir() else PurePosixPath(parsed["file"] or item.name))
    prefix = f"Participant_{key}_assignsubmission_file_/" if parsed["number"] else ""
    return Handed(key, (key,), (part,), name=parsed["who"], upload_prefix=prefix)


MOODLE = Layout(
    "moodle",
    "a Moodle download",
    lambda items: _most_fit(items, lambda item: bool(_MOODLE.fullmatch(item.name))),
    lambda items, _: _group_by_author(items, _read_moodle_item),
)


# Canvas: one flat zip, in which the name of a file begins with its author's, and the numbers of both.

# `<name in lower case>[_LATE]_<user>_<attachment>_<file>`, `[LATE_]anon_<id>_<attachment>_<file>`. The name may be a
# group's, and the number is one member's then. A name may have underscores, and end in a number: the two numbers are
# what can be held on to, and by them a file is given back.
_NUMBERS = r"(?P<late>(?i:_late))?_(?P<user>[1-9]\d*)_(?P<attachment>[1-9]\d*)_(?P<file>.+)"
_CANVAS = re.compile(rf"(?P<name>.+?){_NUMBERS}")
_CANVAS_NUMBERED = re.compile(rf"(?P<name>.+?_\d+){_NUMBERS}")
"""The same of a name that ends in a number."""
_ANONYMOUS_NAME = "anon"
_ANONYMOUS = re.compile(r"(?P<late>(?i:late_))?(?P<name>anon)_(?P<user>[^_]+)_(?P<attachment>\d+)_(?P<file>.+)")
_PAGE = re.compile(r"(?:(?P<name>.+?)(?i:_late)?_(?P<user>\d+)|(?i:late_)?anon_[^_]+)_(?:text|link)\.html")


def _canvas_name(name: str) -> re.Match[str] | None:
    return _ANONYMOUS.fullmatch(name) or _CANVAS.fullmatch(name)


def _fits_canvas(items: Sequence[Path]) -> bool:
    return _most_fit(items, lambda item: item.is_file() and bool(_canvas_name(item.name) or _PAGE.fullmatch(item.name)))


def _read_canvas_item(item: Path, parsed: re.Match[str] | None) -> Handed | Unmatched:
    if not item.is_dir() and parsed:
        part, anonymous = Part(item, PurePosixPath(parsed["file"])), parsed["name"] == _ANONYMOUS_NAME
        key = f"{_ANONYMOUS_NAME}_{parsed['user']}" if anonymous else parsed["user"]
        prefix = f"{'' if anonymous else 'user_'}{key}_{parsed['attachment']}_"
        name, late = "" if anonymous else parsed["name"], bool(parsed["late"])
        return Handed(key, (key,), (part,), late=late, name=name, upload_prefix=prefix)
    if page := _PAGE.fullmatch(item.name):
        why = "a text or an address that was typed into Canvas; only files are graded"
        return Unmatched(item.name.removeprefix(f"{page['name']}_"), page["user"] or "", why)
    return _without_author(item, "its name does not begin with an author's name, as Canvas's files do")


def _read_canvas(items: Sequence[Path], exercises: Sequence[Exercise]) -> Taken:
    """Read a download of Canvas, in which the names of files have numbers.

    `ada_512_7001_double.py` is file 7001, `double.py`, of author 512.
    """
    parsed = {item: _canvas_name(item.name) for item in items}
    files = Counter(match["attachment"] for match in parsed.values() if match and match["name"] != _ANONYMOUS_NAME)
    read = []
    for item, match in parsed.items():
        other = _CANVAS_NUMBERED.fullmatch(item.name)
        twice = match is not None and other is not None and files[match["attachment"]] > 1
        read.append((item, other if twice else match))
    chosen = dict(read)
    return _group_by_author(items, lambda item: _read_canvas_item(item, chosen[item]))


def move_to_rostered_authors(handed: Sequence[Handed], numbers: Collection[str]) -> tuple[Handed, ...]:
    """Correct the authors of Canvas files by the numbers on the roster.

    The name of the author `ada_2` ends in a number, so `ada_2_512_7001_double.py` was taken for a file of author 2. It
    moves to author 512 if 512 is on the roster, and 2 is not.

    Args:
        handed: the submissions, with the authors' numbers that were read without a roster.
        numbers: the numbers of everybody on the roster.

    Returns:
        What each author handed in, sorted by the author's number.
    """
    made: dict[str, Handed] = {}
    for one in handed:
        for own in _with_canvas_numbers(one, numbers):
            first = made.get(own.key)
            made[own.key] = own if first is None else replace(first, parts=(*first.parts, *own.parts))
    return tuple(made[key] for key in sorted(made))


def _with_canvas_numbers(one: Handed, numbers: Collection[str]) -> Iterator[Handed]:
    others = [(part, _CANVAS_NUMBERED.fullmatch(part.path.name)) for part in one.parts]
    if one.key in numbers or not any(match and match["user"] in numbers for _, match in others):
        yield one
        return
    for part, match in others:
        row = _read_canvas_item(part.path, match) if match and match["user"] in numbers else replace(one, parts=(part,))
        if isinstance(row, Handed):
            yield row


CANVAS = Layout("canvas", "a Canvas download", _fits_canvas, _read_canvas)


# nbgrader: `submitted/<author>/<assignment>/`, with the time of each in a file.

SUBMITTED = "submitted"
"""Its folder in which the authors' folders lie."""

_LONGEST_TIME = 100


def _fits_nbgrader(items: Sequence[Path]) -> bool:
    # Of most authors, as one of them can put such a file into any layout.
    timed = _most_fit(items, lambda item: item.is_dir() and any(path.is_file() for path in item.glob(f"*/{TIME}")))
    return timed or (bool(items) and items[0].parent.name == SUBMITTED)


def _read_nbgrader(items: Sequence[Path], exercises: Sequence[Exercise]) -> Taken:
    handed = []
    for item in (item for item in items if item.is_dir()):
        inner = sorted(path for path in item.iterdir() if path.is_dir() and not path.is_symlink())
        parts = tuple(map(_part_of_assignment, inner))
        handed.append(Handed(item.name, (item.name,), parts))
    return handed, [_without_author(item, "a file beside the authors' folders") for item in items if not item.is_dir()]


def _part_of_assignment(folder: Path) -> Part:
    """Return an assignment's folder in nbgrader's layout as a `Part`, with its hand-in time.

    The time is in the folder's timestamp.txt.
    """
    file = folder / TIME
    stamp = _first_line(file).strip() if file.is_file() and not file.is_symlink() else ""
    at = _to_iso_time(stamp)
    # nbgrader writes and reads a time without a zone as one in UTC.
    dated = datetime.fromisoformat(at) if at else None
    at = at if dated is None or dated.tzinfo else dated.replace(tzinfo=UTC).isoformat()
    return Part(folder, PurePosixPath(folder.name), at, "" if at else stamp)


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline(_LONGEST_TIME)


NBGRADER = Layout("nbgrader", "nbgrader's submitted folder", _fits_nbgrader, _read_nbgrader)


# Clones of students' repositories. `gh classroom clone student-repos` puts ASSIGNMENT-STUDENT into
# ASSIGNMENT-submissions; `gh teacher download` of Classroom 50 puts CLASSROOM-ASSIGNMENT-STUDENT into
# CLASSROOM-ASSIGNMENT_submissions_TIME, or into another folder, with a scores.csv that lists the students.

_PARENT = re.compile(r"(.+)(?:-submissions|_submissions_\d{4}(?:_\d\d){2}_T(?:_\d\d){3})")
_SCORES, _STUDENT, _TAG = "scores.csv", "username", "submission_tag"


def _fits_clones(items: Sequence[Path]) -> bool:
    return _most_fit(items, lambda item: item.is_dir() and (item / ".git").exists())


def _read_clones(items: Sequence[Path], exercises: Sequence[Exercise], *, alike: bool = False) -> Taken:
    folders = [item for item in items if item.is_dir()]
    slug = _repository_prefix(folders) or (_prefix_to_hyphen([item.name for item in folders]) if alike else "")
    handed = [Handed(author, (author,), (Part(item),)) for item in folders if (author := item.name[len(slug) :])]
    others = [item for item in items if not item.is_dir() and item.name != _SCORES]
    return handed, [_without_author(item, "a file beside the repositories") for item in others]


def _repository_prefix(folders: Sequence[Path]) -> str:
    """Return the prefix of all names of repositories, such as `hw1-`; "" if it is uncertain.

    It is the assignment's name and a hyphen, and it is certain if the folder around them is `hw1-submissions`, or if
    scores.csv lists what follows the prefix. A common beginning alone says nothing: anna-k and anna-m are two students.
    """
    names = [item.name.lower() for item in folders]
    parent = _PARENT.fullmatch(folders[0].parent.name) if folders else None
    slugs = [f"{parent[1].lower()}-"] if parent else []
    if folders and (students := _classroom50_students(folders[0].with_name(_SCORES))):
        slugs += [names[0].removesuffix(each) for each in students if names[0].endswith(f"-{each}")]
        slugs = [slug for slug in slugs if all(name.removeprefix(slug) in students for name in names)]
    fitting = {slug for slug in slugs if all(name.startswith(slug) and name != slug for name in names)}
    return fitting.pop() if len(fitting) == 1 else ""


def _classroom50_students(table: Path) -> set[str]:
    """Return the students whom the scores.csv of Classroom 50 lists, in lower case.

    The set is empty if the file is missing or is another table.
    """
    if not table.is_file():
        return set()
    with table.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = csv.DictReader(file)
        is_scores = {_STUDENT, _TAG} <= set(rows.fieldnames or ())
        return {name.lower() for row in rows if (name := row[_STUDENT])} if is_scores else set()


def _prefix_to_hyphen(names: Sequence[str]) -> str:
    """Return the prefix that all names share, up to the last hyphen in it.

    `["hw1-ada", "hw1-bo"]` returns "hw1-". It is "" for a single name, or if a name is nothing but this prefix.
    """
    shared = os.path.commonprefix(list(names)) if len(names) > 1 else ""  # noqa: RUF071  of letters
    slug = shared[: shared.rfind("-") + 1]
    return slug if slug not in names else ""


CLONES = Layout("clones", "clones of repositories", _fits_clones, _read_clones)


# A folder made by hand: for each author a folder, a zip or a single file.


def _read_plain_item(exercises: Sequence[Exercise], item: Path) -> Handed | Unmatched:
    """Return a file or folder with the author that its name says: ada for `ada_double.py`.

    If the name has no author, as `double.py`, return an `Unmatched` with the reason.
    """
    if item.is_dir():
        return _handed_by(item.name, Part(item))
    part = Part(item, PurePosixPath(item.name))
    if is_packed(item.name):
        return _handed_by(without_download_number(item.name[: -len(archive_suffix(item.name) or item.suffix)]), part)
    stem, is_code = code_stem(item.name)
    if not is_code:
        return _without_author(item, "neither a folder nor a zip, nor Python, nor a notebook")
    if (name := exercise_of_file_name(item.name, exercises)) and name.owner:  # ada_double.py
        return _handed_by(name.owner, part)
    if name:
        return _without_author(item, "it is named like an exercise, and its name does not say whose it is")
    return _handed_by(without_download_number(stem), part)  # ada.py: its contents say what it is of


PLAIN = Layout(
    "plain",
    "a folder for each author",
    lambda items: True,
    lambda items, exercises: _group_by_author(items, partial(_read_plain_item, exercises)),
)


LAYOUTS: tuple[Layout, ...] = (GRADESCOPE, MOODLE, CANVAS, NBGRADER, CLONES, PLAIN)
"""The most telling first; the last one fits anything."""

OUT_MARK = "journal.sqlite"
"""A file that only the folder of a batch's results has."""


def read_download(download: Download, exercises: Sequence[Exercise]) -> Intake:
    """Return the submissions in a class's folder or zip, such as a download of Canvas.

    This is called in the reading process. The layout is detected if it is not named. Only names at the top of the named
    folder decide about it: what a folder or a zip of one author contains was chosen by that author.

    Args:
        download: the path of the folder or zip, the name of the layout, if it was typed, and an empty folder for what
            is unpacked.
        exercises: all exercises of the course, to recognize answers by their names.

    Raises:
        SubmissionError: nothing can be read there, or it has no submission.
    """
    path, name, known = download.path, download.name, {layout.name: layout for layout in LAYOUTS}
    # Who says that these are clones says that their names begin with the assignment's.
    known[CLONES.name] = replace(CLONES, read=partial(_read_clones, alike=True))
    if name is not None and name not in known:
        raise SubmissionError(f"there is no layout {name!r}{suggestion(name, list(known))}")
    forced = None if name is None else known[name]
    is_answer = answer_name_test(exercises)
    root, left = _open_download(path, download.folder / "class", is_answer)
    root, items = _find_submissions(root, path, download.out)
    packed = len(items) == 1 and (items[0].is_dir() or _is_zip(items[0]))
    if packed and forced is not None and forced is not PLAIN and not forced.fits(items):
        # Staff says that it is a platform's: then it may lie in a folder of its own.
        inner, rows = _open_download(items[0], download.folder / "inner", is_answer)
        (root, items), left = _find_submissions(inner, items[0], download.out), left + rows
    layout = forced or next(layout for layout in LAYOUTS if layout.fits(items))
    if forced is None and layout is PLAIN and (is_course(path) or _is_one_authors(items, exercises)):
        raise SubmissionError(
            f"{path} has the files of one author, and not a folder or a zip for each author. To grade them:  "
            f"grade --submission {path}  . If these are authors, repeat the command with  --layout plain"
        )
    try:
        handed, unmatched = layout.read(items, exercises)
    except OSError as error:
        raise SubmissionError(f"{error.filename or root} cannot be read: {error.strerror}") from None
    if not handed:
        raise SubmissionError(
            f"{path} has no submissions: a folder or a zip for each author is expected, or what Canvas, Moodle, "
            "Gradescope, GitHub Classroom or nbgrader give"
        )
    names = sorted(item.name for item in root.iterdir() if item.is_symlink() and not is_junk(item.name))
    links = [Unmatched(name, "", "a link, which is not followed") for name in names]
    # By name and not by bytes, so that the gradebook is the same wherever it is made.
    times = _commit_times(root)
    dated = (_with_time(one, times[one.key]) if one.key in times else one for one in handed)
    ordered = tuple(sorted(dated, key=lambda one: (one.key, [str(part.path) for part in one.parts[:1]])))
    nobodys = (*unmatched, *links, *_several_submissions(ordered), *_add_authors(left, download.folder, ordered))
    notes = (*_single_item_note(layout, root, items), *(_prefix_note(items) if name == CLONES.name else ()))
    return Intake(layout.title, root, path, ordered, nobodys, tuple(notes))


def _open_download(path: Path, folder: Path, is_answer: Callable[[str], bool]) -> tuple[Path, list[Unmatched]]:
    """Return the folder of a class's download; unpack it first if it is a zip.

    Args:
        path: the path of the download, a folder or a zip.
        folder: the path of the folder to make for a zip.
        is_answer: a function that says by a file's name if it is likely an answer, such as `double.py`.

    Returns:
        The folder, and reports on what could not be unpacked.

    Raises:
        SubmissionError: the download is neither a folder nor a zip, or cannot be read.
    """
    if path.is_dir():
        return path, []
    if not _is_zip(path):
        raise SubmissionError(f"{path} is neither a folder with submissions nor a zip of one")
    folder.mkdir()
    return folder, list(unpack(path, folder, _owners_of_files, is_answer))


def _owners_of_files(paths: Sequence[PurePosixPath]) -> list[str]:
    """Return the owner of each file of a download; each owner gets a share of the disk.

    For `hw1/ada/double.py` and `hw1/bo/double.py` they are `["ada", "bo"]`. The owner is "" for a file of the platform.
    """
    folders, shared = [path.parts[:-1] for path in paths], 0
    while folders and len({own[: shared + 1] for own in folders}) == 1 and len(folders[0]) > shared:
        shared += 1
    # One author's folder that is alone there looks like a folder around all; the limits for it are the same.
    shared += any(own[shared : shared + 1] == (SUBMITTED,) for own in folders)
    return [_owner_of_file(path.parts[shared:] or path.parts[-1:]) for path in paths]


def _owner_of_file(parts: Sequence[str]) -> str:
    """Return the owner of a file in a download; "" for a file of the platform.

    The owner is the number in the topmost name that Moodle or Canvas wrote, as 512 in `ada_512_7001_double.py`, or that
    name itself, as `ada` in `ada/double.py`.

    Args:
        parts: the parts of the file's path, below what all paths share.
    """
    if len(parts) == 1 and parts[0] in METADATA:
        return ""
    if by_moodle := _MOODLE.fullmatch(parts[0]):
        return by_moodle["number"] or by_moodle["who"]
    return by_canvas["user"] if (by_canvas := _canvas_name(parts[0])) else parts[0]


def _add_authors(rows: Sequence[Unmatched], folder: Path, handed: Sequence[Handed]) -> Iterator[Unmatched]:
    """Yield the reports on files that could not be unpacked, with their authors where known.

    A report on `ada_double.zip` gets the author `ada` if this zip, or a folder that it lies in, is among what `ada`
    handed in.

    Args:
        rows: the reports, which lack the author.
        folder: the folder into which the download was unpacked.
        handed: the files and folders of each author.
    """
    owners = {part.path: one.key for one in handed for part in one.parts}
    for row in rows:
        places = [folder / top / row.file for top in ("class", "inner")]
        keys = [owners[path] for place in places for path in (place, *place.parents) if path in owners]
        yield replace(row, author=keys[0]) if keys else row


def _single_item_note(layout: Layout, root: Path, items: Sequence[Path]) -> Iterator[str]:
    """Yield a note if the only folder or zip was graded as the work of one author.

    If the named folder has nothing but `hw1.zip`, this zip counts as what one author handed in. It may be the download
    of a whole class instead: the note says by which command it is graded as such.

    Args:
        layout: the layout that was chosen; only `PLAIN` has this ambiguity.
        root: the folder in which the item lies.
        items: all items of the folder.
    """
    if layout is PLAIN and len(items) == 1 and (items[0].is_dir() or is_packed(items[0].name)):
        yield (
            f"{items[0].name} is alone in {root.name}, so it is what one author handed in. "
            f"If it is a class's download, name it:  grade batch {items[0]}"
        )


def _prefix_note(items: Sequence[Path]) -> Iterator[str]:
    """Yield a note if the prefix cut off from the names of clones, such as `hw1-`, is a guess.

    It is a guess if nothing but the names themselves shows it; see `_repository_prefix`.
    """
    folders = [item for item in items if item.is_dir()]
    if not _repository_prefix(folders) and (shared := _prefix_to_hyphen([item.name for item in folders])):
        yield (
            f"All names begin with {shared}, which is cut off as the assignment's name. If it is not, put the folders "
            "into one that is called ASSIGNMENT-submissions, with the assignment's name."
        )


def _with_time(one: Handed, stamp: str) -> Handed:
    at = _to_iso_time(stamp)
    return replace(one, at=at, unread="" if at else stamp)


def _commit_times(root: Path) -> Mapping[str, str]:
    """Return the time of each folder's commit, by the folder's name.

    The times are in the table that `grade clone` writes, `hw1.csv` beside `hw1`; without it, the mapping is empty.
    """
    table = root.with_name(f"{root.name}.csv")
    if not table.is_file():
        return {}
    with table.open(encoding="utf-8", errors="replace", newline="") as file:
        rows = list(csv.reader(file))
    own = {row[0]: row[3] for row in rows[1:] if len(row) == len(CLONED)}
    return own if rows[:1] == [[*CLONED]] else {}


def _several_submissions(handed: Sequence[Handed]) -> Iterator[Unmatched]:
    """Yield a report on each author who handed in several times, alone or in groups.

    Staff reads the reports, and must decide which submission counts.
    """
    own = defaultdict[str, list[str]](list)
    for one in handed:
        for author in one.authors:
            own[author].append(one.key)
    for author, keys in own.items():
        if len(keys) > 1:
            yield Unmatched(
                "",
                author,
                f"several submissions, each with a row of its own: {', '.join(keys)}; keep the one that counts",
            )


_EXPORT = re.compile(r"assignment_\d+_export|submitted|.+-submissions")
"""Names of folders that Gradescope, nbgrader and `gh classroom clone` make around all submissions."""


def _find_submissions(folder: Path, named: Path, out: Path | None) -> tuple[Path, list[Path]]:
    """Return the folder in which a class's submissions lie, and its items.

    It is the subfolder `submitted`, as nbgrader has it; or the only item of `folder`, if its name is a platform's, such
    as `assignment_7_export`, or the download's, as `hw1` in `hw1.zip`; else `folder` itself.

    Args:
        folder: the download: a folder, or what a zip was unpacked into.
        named: the path of the download.
        out: the folder of the batch's results, which is not one of the items.
    """
    items = _list_folder(folder, out)
    for item in (item for item in items if item.name == SUBMITTED and item.is_dir()):
        return item, _list_folder(item, out)
    if len(items) == 1 and items[0].is_dir() and (_EXPORT.fullmatch(items[0].name) or items[0].name == named.stem):
        return items[0], _list_folder(items[0], out)
    return folder, items


def _is_one_authors(items: Sequence[Path], exercises: Sequence[Exercise]) -> bool:
    """Return whether the items look like the files of a single author.

    They do if all of them are files or folders with names of exercises.
    """
    folders = [item for item in items if item.is_dir()]
    code = [item for item in items if not item.is_dir() and code_stem(item.name)[1]]
    files = [item for item in code if (name := exercise_of_file_name(item.name, exercises)) and not name.owner]
    if len(files) < len(code) or not (files or folders) or any(is_packed(item.name) for item in items):
        return False
    return {folder.name for folder in folders} <= {name for item in exercises for name in (item.id, item.module)}


def _list_folder(folder: Path, out: Path | None) -> list[Path]:
    """Return the paths in a folder, sorted by name.

    Hidden files, links and results of a batch are left out.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if not is_junk(path.name) and not path.is_symlink())
    except OSError as error:
        raise SubmissionError(f"{folder} cannot be read: {error.strerror}") from None
    # Results of this batch, by any path to them, or of another one.
    own = out if out is not None and out.exists() else None
    return [path for path in paths if not (path / OUT_MARK).is_file() and not (own and path.samefile(own))]


def _is_zip(path: Path) -> bool:
    return path.is_file() and path.suffix.lower() == ZIP
