"""The repositories of a class, cloned as they were at a time; and the reports of their CI jobs as one gradebook.

`grade clone` takes a list and makes a folder for each student. Of the reports the latest of each author counts.
"""

from __future__ import annotations

import base64
import csv
import os
import re
import shutil
import subprocess
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from grader.course.files import to_datetime
from grader.course.layout import ARCHIVES, CLONED, NOTEBOOK, PYTHON
from grader.intake.collect import collect_one
from grader.model import Exercise
from grader.model.errors import CourseError
from grader.model.files import read_limited
from grader.model.score import pluralize
from grader.report.gradebook import gradebook_csv
from grader.report.read import read_report
from grader.report.safe import for_terminal
from grader.report.schema import ReportFile
from grader.sandbox.process import remove_folder

TOKEN = "CLASS_TOKEN"  # noqa: S105  the name of a variable
"""The variable with the token that may read the repositories. Only the platform's own server gets it."""

_MOST_BYTES, _MOST_PROBLEMS = 4 << 20, 50
_LINE = re.compile(
    r"(?:(?:https?://|ssh://)(?:[^/@]+@)?(?P<host>[\w.-]+(?::\d+)?)/|[\w.-]+@(?P<ssh>[\w.-]+):)?"
    r"(?P<path>\w[\w.-]*(?:/\w[\w.-]*?)+)(?:\.git)?/?"
)


@dataclass(frozen=True)
class Repository:
    """One repository of the class.

    Attributes:
        server: the server that has it, as the beginning of a URL.
        path: its owner, or groups, and its name.
    """

    server: str
    path: str

    @property
    def folder(self) -> str:
        """Return the name of the folder for the clone: `ada/hw1` becomes `ada--hw1`.

        It contains the owner, as two owners may use one name.
        """
        return self.path.replace("/", "--")


def server_of(environ: Mapping[str, str]) -> str:
    """Return the address of the server that runs this job, by its environment; else GitHub's."""
    return environ.get("GITHUB_SERVER_URL") or environ.get("CI_SERVER_URL") or "https://github.com"


def read_class(path: Path, server: str) -> list[Repository]:
    """Read a list of repositories, and return each repository once.

    A line is `ada/hw1`, for a repository on `server`, or an address such as `https://github.com/ada/hw1.git` or
    `git@gitlab.com:uni/eve/hw1`.

    Raises:
        CourseError: the list cannot be read, or has wrong lines, which the error names, up to a limit.
    """
    try:
        text = read_limited(path, _MOST_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{path} cannot be read: {error}; it lists the repositories of the class") from None
    by_folder, problems, here = dict[str, Repository](), list[str](), urlsplit(server).netloc
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if parsed := _LINE.fullmatch(words):
            host = parsed["host"] or parsed["ssh"]
            at = server if host in (None, here) else f"https://{host}"
            one = Repository(at, parsed["path"].removeprefix(f"{here}/"))
            by_folder.setdefault(one.folder.lower(), one)
        elif words and not words.startswith("#"):
            problems.append(f"{path}, line {number}: {words!r} is neither OWNER/NAME nor the address of a repository")
    if (more := len(problems) - _MOST_PROBLEMS) > 0:
        problems[_MOST_PROBLEMS:] = [f"{path}: and {more:,} more lines of this kind"]
    if not by_folder and not problems:
        problems = [f"{path} has no repository; write one on each line, such as OWNER/NAME"]
    if problems:
        raise CourseError(*problems)
    return list(by_folder.values())


def parse_moment(text: str) -> datetime:
    """Return the time that a user typed, such as "2026-11-27T18:00+01:00".

    A date means the end of that day: "2026-11-27" becomes 23:59:59. A time without a zone is in the zone of this
    machine.

    Raises:
        CourseError: it is not a time.
    """
    try:
        read = to_datetime(text)
    except ValueError:
        raise CourseError(f"{text!r} is not a time; write 2026-11-27, or 2026-11-27T18:00+01:00") from None
    assert isinstance(read, datetime)
    return read.astimezone()


@dataclass(frozen=True)
class CommitFilter:
    """A filter for the commits of a repository: which count.

    Attributes:
        course: all exercises of the course.
        wanted: the exercises of the hand-in: a commit counts if it changed a file of one. Without any, all commits do.
        not_by: names and addresses, in lower case, whose commits do not count. Those of bots do not count anyway.
    """

    course: Sequence[Exercise] = ()
    wanted: Sequence[Exercise] = ()
    not_by: frozenset[str] = frozenset()

    def is_by_student(self, name: str, address: str) -> bool:
        """Return whether the author of a commit is neither a bot nor excluded by `not_by`.

        A student who pretends to be a bot or staff gains nothing: what such a commit changed does not count.
        """
        return not (_BOT.search(address) or {name.lower(), address.lower()} & self.not_by)

    def pathspecs(self, folder: Path, author: str) -> list[str]:
        """Return Git pathspecs of the hand-in's files in a checkout; [] if it has none.

        Examples are `:(literal)masks/masks.py` for the file of an exercise, `:(glob,icase)masks/**/*.py` for Python
        files in its folder and below, and `:(exclude,literal)masks/other.py` for the file of an exercise outside of the
        hand-in. Notebooks and archives are selected, too.
        """
        submission = collect_one(folder, self.course, self.course, author)
        paths = {item.id: submission.files_of(item).path for item in self.course}
        files = {id: path for id, path in paths.items() if path and path != folder and path.is_relative_to(folder)}
        inside = {id: path.relative_to(folder) for id, path in files.items()}
        own = [inside[item.id] for item in self.wanted if item.id in inside]
        others = {path for id, path in inside.items() if id not in {item.id for item in self.wanted}}
        endings = (*PYTHON, NOTEBOOK, *ARCHIVES)
        places = [f":(literal){path.as_posix()}" for path in own]
        for parent in dict.fromkeys(path.parent for path in own):
            # In the top folder lie the files of all hand-ins: only what is directly in it.
            below = "" if parent == Path() else _GLOB.sub(r"\\\g<0>", parent.as_posix()) + "/**/"
            places += [f":(glob,icase){below}*{ending}" for ending in endings]
        return places + [f":(exclude,literal){path.as_posix()}" for path in sorted(others - set(own))] if own else []


_BOT = re.compile(r"\[bot\]@users\.noreply\.github\.com$|^(project|group)_\d+_bot(_\w+)?@", re.IGNORECASE)
"""The addresses that GitHub gives to apps, and GitLab to its access tokens."""
_GLOB = re.compile(r"[*?\[\\]")


def clone_class(
    repositories: Sequence[Repository],
    folder: Path,
    until: Callable[[str], datetime | None],
    server: str,
    commit_filter: CommitFilter,
) -> Iterator[str]:
    """Clone each repository into a folder of its own; yield a line about each.

    An example is "ada/hw1: 0123456789ab of 2026-11-27T17:00:00+01:00". A clone has no history. A file beside the
    folder, of the same name with `.csv`, lists folder, repository, commit and its time.

    Args:
        repositories: the repositories of the class.
        folder: the folder that is made, with a folder for each of them.
        until: a function of a repository's folder that returns the time until which commits count; None for no limit.
        server: the server that the token is for.
        commit_filter: the filter for commits that count.

    Raises:
        CourseError: the folder is not empty, or repositories could not be cloned, each with git's reason.
    """
    problems, rows = list[str](), list[tuple[str, str, str, str]]()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise CourseError(f"{folder} is not empty; name a new folder")
    token = os.environ.pop(TOKEN, "")  # what reads the files of students does not get it
    for one in repositories:
        try:
            taken = _clone(
                one, folder / one.folder, until(one.folder), token if one.server == server else "", commit_filter
            )
        except subprocess.CalledProcessError as error:
            remove_folder(str(folder / one.folder))  # which may be of any depth by then
            why = (error.stderr.strip().splitlines() or ["git gives no reason"])[-1]
            if len(why) > _LONGEST_NAME:  # with a path in its midst
                why = f"{why[: _LONGEST_NAME // 2]} ... {why[-_LONGEST_NAME // 2 :]}"
            problems.append(f"{one.path} is missing, it cannot be cloned: {why}")
            continue
        except OSError as error:
            raise CourseError(f"git cannot be run ({error.strerror}); install it") from None
        rows.append((one.folder, one.path, taken.commit, taken.at))
        yield f"{one.path}: {taken.text}"
    with folder.with_name(f"{folder.name}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([CLONED, *rows])
    if problems:
        raise CourseError(*problems)


@dataclass(frozen=True)
class _TakenCommit:
    """The commit that is checked out in a folder, and its time; both are empty if there is no commit."""

    commit: str = ""
    at: str = ""
    skipped: int = 0

    @property
    def text(self) -> str:
        """Return the commit as text, such as "0123456789ab of 2026-11-27T17:00:00+01:00".

        If later commits were skipped, "; 2 later commits changed no file of the hand-in" follows.
        """
        more = f"; {pluralize(self.skipped, 'later commit')} changed no file of the hand-in"
        return (f"{self.commit[:12]} of {self.at}" if self.commit else "no commit") + (more if self.skipped else "")


def _clone(
    one: Repository, folder: Path, until: datetime | None, token: str, commit_filter: CommitFilter
) -> _TakenCommit:
    """Clone a repository, check out the last commit that counts, and return that commit."""
    environ = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1"}
    if token:
        # In the environment of this one process: an address with a token would stay in a file and in messages.
        header = f"Authorization: Basic {base64.b64encode(f'oauth2:{token}'.encode()).decode()}"
        environ |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "http.extraHeader", "GIT_CONFIG_VALUE_0": header}

    def git(*words: str) -> str:
        command = ["git", "-c", "core.symlinks=false", *words]
        run = subprocess.run(command, env=environ, check=True, capture_output=True, text=True, errors="replace")
        return run.stdout.strip()

    def commits(*words: str) -> list[list[str]]:
        """Return the commits of students, the latest first: identity, time, name and address."""
        lines = git("-C", str(folder), "log", "--format=%H%x1f%cI%x1f%an%x1f%ae", *words).splitlines()
        return [row for row in (line.split("\x1f") for line in lines) if commit_filter.is_by_student(*row[2:4])]

    # One branch and no tags, so that all commits are those of the branch; an empty repository has none.
    address = f"{one.server}/{one.path}.git"
    git("clone", "--quiet", "--no-checkout", "--single-branch", "--no-tags", address, str(folder))
    latest = commits("--all", *([] if until is None else [f"--min-age={int(until.timestamp())}"]))
    taken = _TakenCommit(latest[0][0], latest[0][1]) if latest else _TakenCommit()
    if latest:
        git("-C", str(folder), "checkout", "--quiet", "--detach", taken.commit)
    places = commit_filter.pathspecs(folder, one.folder) if latest and commit_filter.wanted else []
    if places and (own := commits(taken.commit, "--", *places)):
        skipped = next(number for number, row in enumerate(latest) if row[0] == own[0][0])
        taken = _TakenCommit(own[0][0], own[0][1], skipped)
        git("-C", str(folder), "checkout", "--quiet", "--detach", "--force", taken.commit)
    shutil.rmtree(folder / ".git")
    return taken


_MOST_EXERCISES, _LONGEST_NAME = 1_000, 300
"""A report of more exercises, or with a longer name, is not one of ours."""
_MOST_NAMES, _DEEPEST = 300_000, 20
"""So many files and folders are looked at, in so many others."""
_COMPARED = ("grader", "torch", "python", "confinement", "device")
"""What may differ from job to job, and make scores that cannot be compared."""
_SHOWN, _CUT = 8, 40
"""So many values of it are shown, and so much of each."""


@dataclass(frozen=True)
class Gathered:
    """The reports in a folder.

    Attributes:
        reports: the latest of each author, by author.
        older: files of reports in whose place a later one of the same author counts, each with that one's.
        unread: a sentence for each file that is not a report of this class, with the reason.
        several: people whose name is in the reports of several submissions, each with their files.
    """

    reports: tuple[ReportFile, ...]
    older: tuple[tuple[Path, Path], ...]
    unread: tuple[str, ...]
    several: Mapping[str, Sequence[Path]]

    @property
    def authors(self) -> int:
        """Return the number of authors in the reports, counting each member of a group."""
        return sum(len(report.members) for report in self.reports)

    def gradebook(self) -> str:
        """Return the gradebook as CSV, with a column for each exercise of any report.

        The exercises that are in more than half of the reports come first. An author who lacks one of these has no
        final score. Other exercises may be missing, so one report with more exercises takes no score from others.
        """
        having = Counter(id for report in self.reports for id in {exercise.id for exercise in report.exercises})
        ids = list(dict.fromkeys(exercise.id for report in self.reports for exercise in report.exercises))
        of_most = [id for id in ids if 2 * having[id] > len(self.reports)]
        others = [id for id in ids if id not in of_most]
        return gradebook_csv([*of_most, *others], self.reports, needed=of_most)

    def lines(self) -> Iterator[str]:
        """Yield a sentence for each problem of the reports.

        Examples are "not counted, as a later report has the same author: a/1.json; a/2.json counts", and "torch is not
        the same in all reports: 2.12, 2.13", as the scores may then not be comparable. Other sentences are about files
        that cannot be read, and about authors in several reports.
        """
        for path, later in self.older:
            text = f"not counted, as a later report has the same author: {path.as_posix()}; {later.as_posix()} counts"
            yield for_terminal(text, one_line=True)
        for author, paths in self.several.items():
            files = ", ".join(path.as_posix() for path in paths)
            yield for_terminal(f"{author} has several rows, of several reports; one may count: {files}", one_line=True)
        for name in _COMPARED:
            # An author without any file has a report for which no student code was run, and so no confinement.
            values = {str(value) for report in self.reports if (value := report.environment.get(name)) is not None}
            if len(values) > 1:
                shown = [for_terminal(value, one_line=True)[:_CUT] for value in sorted(values)]
                more = f", and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
                yield f"{name} is not the same in all reports: {', '.join(shown[:_SHOWN])}{more}"
        yield from (f"not read: {for_terminal(why, one_line=True)}" for why in self.unread)


def gather(folder: Path) -> Gathered:
    """Read all reports below a folder, and return the latest one of each author.

    The result also has the files that do not count. A file that is not a report, or is of another course than most,
    costs only its own row.

    Raises:
        CourseError: there is no folder, or no report in it, or as many reports are of one course as of another.
    """
    if not folder.is_dir():
        raise CourseError(f"{folder} is not a folder with reports")
    found: list[tuple[ReportFile, Path]] = []
    unread: list[str] = []
    for path in sorted(_reports_below(folder, unread)):
        try:
            found.append((_read_bounded_report(path), path))
        except CourseError as error:
            unread.append("; ".join(error.problems))
    if not found:
        raise CourseError(f"{folder} has no report; expected files that grade ci --json or grade --json wrote")
    course = _most_frequent_course(folder, [report for report, _ in found])
    of_author: dict[str, list[tuple[ReportFile, Path]]] = {}
    for report, path in found:
        if report.course == course:
            of_author.setdefault(report.author, []).append((report, path))
        else:
            unread.append(f"{path.as_posix()} is of the course {report.course[:_LONGEST_NAME]!r}")
    inorder = [sorted(of_author[author], key=lambda one: one[0].graded_at) for author in sorted(of_author)]
    older = tuple((path, own[-1][1]) for own in inorder for _, path in own[:-1])
    rows: dict[str, list[Path]] = {}
    for report, path in (own[-1] for own in inorder):
        for member in report.members:
            rows.setdefault(member, []).append(path)
    several = {author: paths for author, paths in rows.items() if len(paths) > 1}
    return Gathered(tuple(own[-1][0] for own in inorder), older, tuple(unread), several)


def _reports_below(folder: Path, unread: list[str]) -> Iterator[Path]:
    """Yield the files below a folder that may be reports, those in outer folders first.

    A line is appended to `unread` for each folder that is skipped. A job may leave folders of any depth.
    """
    todo, left = deque([(folder, 0)]), _MOST_NAMES
    while todo:
        place, depth = todo.popleft()
        if depth > _DEEPEST:
            unread.append(f"the folder {place} lies deeper than {_DEEPEST} others; reports in it are not looked for")
            continue
        try:
            with os.scandir(place) as scan:
                items = list(islice(scan, left + 1))  # one more than there may be
        except OSError as error:
            unread.append(f"the folder {place} cannot be read: {error.strerror}")
            continue
        left -= len(items)
        if left < 0:
            unread.append(f"there are more than {_MOST_NAMES:,} files and folders in {folder}: no others are looked at")
            return
        todo += [(place / item.name, depth + 1) for item in items if item.is_dir(follow_symlinks=False)]
        names = (item.name for item in items if item.is_file(follow_symlinks=False))
        yield from (place / name for name in names if name.endswith(".json"))


def _read_bounded_report(path: Path) -> ReportFile:
    """Read a report, and refuse one that is larger than a report of ours can be.

    Such a report has too many exercises or authors, or too long names.

    Raises:
        CourseError: it is not a report, or it is refused.
    """
    name, report = path.as_posix(), read_report(path)
    names = (report.author, *report.members, *(exercise.id for exercise in report.exercises))
    if len(report.exercises) > _MOST_EXERCISES or len(report.members) > _MOST_EXERCISES:
        raise CourseError(f"{name} is not a report: it has more than {_MOST_EXERCISES} exercises or authors")
    if any(len(each) > _LONGEST_NAME for each in names):
        raise CourseError(f"{name} is not a report: a name in it is longer than {_LONGEST_NAME} characters")
    return report


def _most_frequent_course(folder: Path, reports: Sequence[ReportFile]) -> str:
    """Return the id of the course to which most reports belong; other reports do not count.

    Raises:
        CourseError: two courses have equally many reports.
    """
    (course, most), *others = Counter(report.course for report in reports).most_common()
    if others and others[0][1] == most:
        names = ", ".join(sorted({report.course[:_LONGEST_NAME] for report in reports})[:_SHOWN])
        raise CourseError(f"{folder} has reports of several courses ({names}); put those of each into its own folder")
    return course
