"""A folder or a zip of a class's submissions → what everybody handed in, whichever platform made it."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from grader.course.files import suggestion
from grader.course.layout import CLONED, ZIP
from grader.intake.collect import unpacked
from grader.intake.contents import is_archive, is_junk
from grader.intake.handed import SUBMITTED, Handed, Intake, Layout, Unmatched
from grader.intake.match import named
from grader.intake.platforms import CANVAS, CLONES, GRADESCOPE, MOODLE, NBGRADER, PLAIN
from grader.model import Exercise
from grader.model.errors import SubmissionError

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
        for item in (item for item in folders if item.name == SUBMITTED):
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
        zips += is_archive(item.name) and not item.is_dir()
        if item.is_dir():
            own = {name.exercise for path in item.rglob("*.*") if (name := named(path.name, exercises))}
            if own & seen:
                return True
            seen |= own
    return zips > 1


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
