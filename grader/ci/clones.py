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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from grader.course.files import moment_of
from grader.course.layout import CLONED
from grader.model.errors import CourseError
from grader.report.gradebook import gradebook_csv
from grader.report.safe import for_terminal
from grader.report.schema import ReportFile, read_report

TOKEN = "CLASS_TOKEN"  # noqa: S105  the name of a variable
"""The variable with the token that may read the repositories. Only the platform's own server gets it."""

_LINE = re.compile(
    r"(?:(?:https?://|ssh://)(?:[^/@]+@)?(?P<host>[\w.-]+(?::\d+)?)/|[\w.-]+@(?P<ssh>[\w.-]+):)?"
    r"(?P<path>\w[\w.-]*(?:/\w[\w.-]*?)+)(?:\.git)?/?"
)


@dataclass(frozen=True)
class Repository:
    """One repository of the class.

    Attributes:
        server: where it lies, as the beginning of a URL.
        path: its owner, or groups, and its name.
    """

    server: str
    path: str

    @property
    def folder(self) -> str:
        """Whose it is: its path, as two owners may have repositories of one name."""
        return self.path.replace("/", "--")


def server_of(environ: Mapping[str, str]) -> str:
    """The server of the platform that runs this job, else GitHub's."""
    return environ.get("GITHUB_SERVER_URL") or environ.get("CI_SERVER_URL") or "https://github.com"


def read_class(path: Path, server: str) -> list[Repository]:
    """The repositories that a list names, each once: OWNER/NAME, or an address, on each line.

    Raises:
        CourseError: the list cannot be read, or a line of it; it names each.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
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
    if not by_folder and not problems:
        problems = [f"{path} has no repository; write one on each line, such as OWNER/NAME"]
    if problems:
        raise CourseError(*problems)
    return list(by_folder.values())


def moment(text: str) -> datetime:
    """A time as people write it: a date means its end, and a time without a zone is that of this machine.

    Raises:
        CourseError: it is not a time.
    """
    try:
        read = moment_of(text)
    except ValueError:
        raise CourseError(f"{text!r} is not a time; write 2026-11-27, or 2026-11-27T18:00+01:00") from None
    assert isinstance(read, datetime)
    return read.astimezone()


def clone_class(
    repositories: Sequence[Repository], folder: Path, until: Callable[[str], datetime | None], server: str
) -> Iterator[str]:
    """Clone each repository into a folder of its own, without its history; say of each what was taken.

    A file beside the folder, of the same name with `.csv`, lists folder, repository, commit and its time.

    Args:
        repositories: of the class.
        folder: is made, with a folder for each of them.
        until: by a repository's folder, until when the last commit is taken; None for the latest of all.
        server: what the token is for.

    Raises:
        CourseError: the folder is not empty, or repositories could not be cloned, each with git's reason.
    """
    problems, rows = list[str](), list[tuple[str, str, str, str]]()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise CourseError(f"{folder} is not empty; name a new folder")
    for one in repositories:
        try:
            commit, at = _cloned(one, folder / one.folder, until(one.folder), server)
        except subprocess.CalledProcessError as error:
            shutil.rmtree(folder / one.folder, ignore_errors=True)
            why = (error.stderr.strip().splitlines() or ["git gives no reason"])[-1]
            problems.append(f"{one.path} is missing, it cannot be cloned: {why}")
            continue
        except OSError as error:
            raise CourseError(f"git cannot be run ({error.strerror}); install it") from None
        rows.append((one.folder, one.path, commit, at))
        yield f"{one.path}: {f'{commit[:12]} of {at}' if commit else 'no commit'}"
    with folder.with_name(f"{folder.name}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([CLONED, *rows])
    if problems:
        raise CourseError(*problems)


def _cloned(one: Repository, folder: Path, until: datetime | None, server: str) -> tuple[str, str]:
    """The commit that now lies in the folder, and its time; two blanks where there was none yet."""
    environ = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1"}
    if (token := environ.pop(TOKEN, "")) and one.server == server:
        # In the environment of this one process: an address with a token would stay in a file and in messages.
        header = f"Authorization: Basic {base64.b64encode(f'oauth2:{token}'.encode()).decode()}"
        environ |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "http.extraHeader", "GIT_CONFIG_VALUE_0": header}

    def git(*words: str) -> str:
        command = ["git", "-c", "core.symlinks=false", *words]
        return subprocess.run(command, env=environ, check=True, capture_output=True, text=True).stdout.strip()

    # One branch and no tags, so that all commits are those of the branch; an empty repository has none.
    latest = ["--depth", "1"] if until is None else []
    address = f"{one.server}/{one.path}.git"
    git("clone", "--quiet", "--no-checkout", "--single-branch", "--no-tags", *latest, address, str(folder))
    at = [] if until is None else [f"--min-age={int(until.timestamp())}"]
    commit, _, when = git("-C", str(folder), "log", "--all", "-1", "--format=%H %cI", *at).partition(" ")
    if commit:
        git("-C", str(folder), "checkout", "--quiet", "--detach", commit)
    shutil.rmtree(folder / ".git")
    return commit, when


_COMPARED = ("grader", "torch", "python", "confinement", "device")
"""What may differ from job to job, and make scores that cannot be compared."""


@dataclass(frozen=True)
class Gathered:
    """The reports in a folder.

    Attributes:
        reports: the latest of each author, by author.
        older: files of reports in whose place a later one of the same author counts.
        unread: why a file is not a report, for each such file.
    """

    reports: tuple[ReportFile, ...]
    older: tuple[Path, ...]
    unread: tuple[str, ...]

    @property
    def authors(self) -> int:
        """How many authors the reports have."""
        return sum(len(report.members) for report in self.reports)

    def gradebook(self) -> str:
        """The gradebook, with a column for each exercise of any report."""
        ids = list(dict.fromkeys(exercise.id for report in self.reports for exercise in report.exercises))
        return gradebook_csv(ids, self.reports)

    def lines(self) -> Iterator[str]:
        """What does not count, and what not all reports have in common, so that their scores may not be compared."""
        for path in self.older:
            yield for_terminal(f"not counted, as a later report has the same author: {path.as_posix()}", one_line=True)
        for name in _COMPARED:
            # An author without any file has a report for which no student code was run, and so no confinement.
            values = {str(value) for report in self.reports if (value := report.environment.get(name)) is not None}
            if len(values) > 1:
                yield f"{name} is not the same in all reports: {', '.join(sorted(values))}"
        yield from (f"not read: {for_terminal(why, one_line=True)}" for why in self.unread)


def gather(folder: Path) -> Gathered:
    """Read every report below a folder.

    Raises:
        CourseError: there is no folder, or no report in it, or the reports are of several courses.
    """
    if not folder.is_dir():
        raise CourseError(f"{folder} is not a folder with reports")
    of_author: dict[str, list[tuple[ReportFile, Path]]] = {}
    unread: list[str] = []
    for path in sorted(path for path in folder.rglob("*.json") if path.is_file() and not path.is_symlink()):
        try:
            report = read_report(path)
            of_author.setdefault(report.author, []).append((report, path))
        except CourseError as error:
            unread.append("; ".join(error.problems))
    if not of_author:
        raise CourseError(f"{folder} has no report; expected files that grade ci --json or grade --json wrote")
    inorder = [sorted(of_author[author], key=lambda one: one[0].graded_at) for author in sorted(of_author)]
    courses = sorted({report.course for own in inorder for report, _ in own})
    if len(courses) > 1:
        names = ", ".join(courses)
        raise CourseError(f"{folder} has reports of several courses ({names}); put those of each into its own folder")
    older = tuple(path for own in inorder for _, path in own[:-1])
    return Gathered(tuple(own[-1][0] for own in inorder), older, tuple(unread))
