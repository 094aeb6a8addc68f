"""A CI job: which course grades a checkout, what was changed in it, and what the platform gets.

Every file is written anew while checks end, so that a job that runs out of time has what was earned. The platform gets
outputs, the page of the job, and groups in its log.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.course.layout import (
    ARCHIVES,
    NOTEBOOK,
    PYTHON,
    bundled_course,
    find_course,
    is_student_folder,
    student_folder_or_start,
)
from grader.course.load import load_course
from grader.grading.diagnosis import KnownMistakes
from grader.grading.outcomes import WorkResult, graded_so_far
from grader.grading.plan import RunPlan, Work
from grader.grading.runtime import Runtime
from grader.grading.schedule import grade_submission, report_of_submission
from grader.model import Check, Course, Exercise, GradedExercise, Outcome, Report, Submission
from grader.model.errors import CourseError, GraderError
from grader.model.files import DRAFT, failing_as, write_named
from grader.model.progress import Progress
from grader.report.export.formats import FORMATS, Options, json_points, write_format
from grader.report.schema import ReportFile, report_json

_GIT = ("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never")
"""A student's repository may name programs for git to run: git runs none of them, and fetches nothing."""

_DEPTH = "fetch-depth: 0 on GitHub, GIT_DEPTH: 0 on GitLab"


Formats = Sequence[tuple[str, str]]
"""Names of formats, each with its file or `-`."""

_REST = 4
"""For so many times as long as a write took no other one begins, so that a large report does not take all the time."""


@dataclass(frozen=True)
class Checkout:
    """A checkout and the course that grades it.

    Attributes:
        folder: the folder of the checkout, or of the part of it that is graded.
        course: the course with the checks.
        has_own_checks: True if the checks are the checkout's own, so that its author can change them.
    """

    folder: Path
    course: Course
    has_own_checks: bool


def open_checkout(folder: Path, course: Path | None) -> Checkout:
    """Return a checkout with the course that grades it.

    Args:
        folder: the folder of the checkout.
        course: the course, outside of the checkout; None for the one that the checkout is a copy of.

    Raises:
        CourseError: no course was found, or it lies where the student can change it.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise CourseError(f"--submission: {folder} is not a folder")
    if course is not None:
        root = find_course(course.resolve())
        if root == folder or folder in root.parents:
            raise CourseError(
                f"--course: {root} lies in the submission {folder}, where its author can change every check; "
                "check the course out beside it"
            )
        return Checkout(folder, load_course(root), has_own_checks=False)
    if is_student_folder(given := student_folder_or_start(folder)):
        # The copy that `grade start` laid out is the student's; the course in our package is not.
        return Checkout(given, load_course(bundled_course()), has_own_checks=False)
    try:
        root = find_course(folder)
    except CourseError:
        raise CourseError(f"there is no course in {folder}; name one that lies outside of it: --course DIR") from None
    return Checkout(root, load_course(root), has_own_checks=True)


def changed_exercises(checkout: Checkout, submission: Submission, since: str) -> list[Exercise]:
    """Return the exercises of which a file changed since a commit.

    The files that count are Python files, notebooks and archives in the exercise's folder.

    Args:
        checkout: the checkout, with its course.
        submission: the submission that was read from it.
        since: the commit; zeros, which platforms write before the first push of a branch, stand for all exercises.

    Raises:
        CourseError: git cannot say, and why.
    """
    if set(since) == {"0"}:  # what GitHub and GitLab name before the first push of a branch
        return list(checkout.course.exercises)
    commit = _git(checkout.folder, "rev-parse", "--verify", "--end-of-options", f"{since}^{{commit}}")
    # Two commits, and not the files on disk: to compare those git may run filters that the repository names.
    names = _git(checkout.folder, "diff-tree", "-r", "--name-only", "--no-renames", "-z", "--relative", commit, "HEAD")
    changed = [Path(name) for name in names.split("\0") if name.lower().endswith((*PYTHON, NOTEBOOK, *ARCHIVES))]
    # With those above, as packages lie below; a file in the top folder itself has everything below it.
    folders = {folder for path in changed for folder in (path.parent, *path.parents[:-1])}
    paths = ((exercise, submission.files_of(exercise).path) for exercise in checkout.course.exercises)
    return [exercise for exercise, path in paths if path and path.relative_to(checkout.folder).parent in folders]


def _git(folder: Path, *words: str) -> str:
    """Run git, and return what it prints.

    Raises:
        CourseError: it fails.
    """
    environ = {**os.environ, "LC_ALL": "C"}
    with failing_as("--changed-since: git cannot be run", "leave it out to grade all"):
        ran = subprocess.run([*_GIT, *words], cwd=folder, capture_output=True, check=False, env=environ)
    if ran.returncode == 0:
        return ran.stdout.decode("utf-8", "surrogateescape").strip()
    said = ran.stderr.decode("utf-8", "replace")
    if "dubious ownership" in said:
        why = f"another user owns {folder}, so git does not read it; if you trust it, run  git config --global"
        raise CourseError(f"--changed-since: {why} --add safe.directory {folder}")
    if "not a git repository" in said:
        raise CourseError(f"--changed-since: {folder} is not in a git repository; leave it out to grade all")
    name = words[-1].removesuffix("^{commit}")
    if _git(folder, "rev-parse", "--is-shallow-repository") == "true":
        raise CourseError(f"--changed-since: this clone is shallow and lacks {name!r}; fetch all commits ({_DEPTH})")
    raise CourseError(f"--changed-since: git knows no commit {name!r} here; check the name, or leave it out")


@dataclass(frozen=True)
class Platform:
    """The system that runs a job.

    Attributes:
        environ: its environment.
        log: a function that writes a report for its log.
        author: the owner of the repository by its name; "" if no variable has it.
        is_public: True if everybody can read the log, as far as is known.
        root: the root of the repository, as annotations name files from there.
    """

    environ: Mapping[str, str]
    log: Callable[[ReportFile, Options], str]
    author: str
    is_public: bool
    root: Path

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Platform:
        """Return the platform that runs this job, by its environment variables."""
        root = Path(environ.get("GITHUB_WORKSPACE") or environ.get("CI_PROJECT_DIR") or ".").resolve()
        if environ.get("GITHUB_ACTIONS") == "true":
            name = environ.get("GITHUB_REPOSITORY", "").rpartition("/")[2]
            return cls(environ, FORMATS["github"], name, _is_public(environ.get("GITHUB_EVENT_PATH")), root)
        if environ.get("GITLAB_CI") == "true":
            is_public = environ.get("CI_PROJECT_VISIBILITY") != "private"  # `internal` is for everybody with an account
            return cls(environ, FORMATS["gitlab"], environ.get("CI_PROJECT_NAME", ""), is_public, root)
        return cls(environ, FORMATS["log"], "", False, root)

    def folder_of(self, submission: Path) -> str | None:
        """Return the path of the submission's folder in the repository; None if it lies outside.

        In the repository `/repo`, the folder `/repo/a/b` returns "a/b", and `/repo` itself "".
        """
        path = Path(os.path.relpath(submission.resolve(), self.root))
        if path.is_absolute() or ".." in path.parts:
            return None
        return "" if path == Path() else path.as_posix()

    def publish(self, report: ReportFile, options: Options, *, passed: bool, with_result: bool) -> None:
        """Set the outputs of a job's step and write the job's page, if the platform has them.

        On GitHub, outputs are lines such as `score=8.5` and `passed=true` in the file that `GITHUB_OUTPUT` names. The
        page goes into the file that `GITHUB_STEP_SUMMARY` names.

        Args:
            report: the report.
            options: the options of the formats.
            passed: True if the job passes.
            with_result: True if GitHub Classroom's reporter is to get it, as the output `result`.

        Raises:
            CourseError: such a file cannot be written.
        """
        total = report.final_score
        values = {"passed": str(passed).lower()}
        if options.points:
            points = {"score": total.earned, "max_score": total.possible, "undecided": total.undecided}
            values = {name: str(json_points(hundredths)) for name, hundredths in points.items()} | values
        if with_result:
            text = FORMATS["classroom"](report, options)
            values["result"] = base64.b64encode(text.encode("utf-8")).decode("ascii")
        lines = "".join(f"{name}={value}\n" for name, value in values.items())
        for variable, text in (("GITHUB_OUTPUT", lines), ("GITHUB_STEP_SUMMARY", FORMATS["markdown"](report, options))):
            if path := self.environ.get(variable):
                with (
                    failing_as(f"{variable}: {path} cannot be written"),
                    open(path, "a", encoding="utf-8", errors="backslashreplace") as file,
                ):
                    file.write(text)


def is_passed(report: ReportFile, fail_below: float) -> bool:
    """Return whether at least `fail_below` percent of the decided points were earned.

    If 6 of 10 points were earned and 2 are undecided, that is 75 %. Return True also if no point is decided.
    """
    total = report.final_score
    decided = total.possible - total.undecided
    return not decided or 100 * total.earned >= fail_below * decided


def _is_public(event: str | None) -> bool:
    """Return whether a repository on GitHub is public, so that everybody can read its logs.

    The file `event`, in which GitHub describes what started the job, says that. Return True also if it cannot be read.
    """
    try:
        repository = json.loads(Path(event or "").read_text(encoding="utf-8"))["repository"]
        return bool(repository["private"]) is False
    except (OSError, ValueError, KeyError, TypeError):
        return True


class _InterimReports(Progress):
    """Writes the report of what is known so far, again and again while the run goes on.

    Args:
        plan: the run plan.
        submission: the checkout.
        write: a function that receives the report.
        progress: the receiver of each exercise of which checks were run.

    Attributes:
        latest: the latest results of each exercise.
    """

    def __init__(
        self, plan: RunPlan, submission: Submission, write: Callable[[Report], None], progress: Progress
    ) -> None:
        self.latest: dict[str, WorkResult] = {}
        self._plan = plan
        self._submission = submission
        self._write = write
        self._progress = progress
        self._works = {exercise.id: Work(plan, exercise, submission) for exercise in plan.exercises}
        # Of each exercise, the last outcome of each check.
        self._outcomes: defaultdict[str, dict[str, Outcome]] = defaultdict(dict)
        self._has_news, self._rest_ends = False, 0.0

    def graded(self, graded: GradedExercise, confinement: str | None, *, saved: bool) -> None:
        """Record a graded exercise, report it to `progress`, and write the report."""
        id = graded.exercise.id
        self.latest[id], self._has_news = WorkResult(self._works[id], graded, confinement), True
        if graded.checks:
            self._progress.graded(graded, confinement, saved=saved)
        self.still_waiting()

    def ended(self, exercise: Exercise, outcome: Outcome, checks: Sequence[Check]) -> None:
        """Record that a check has ended.

        Nothing is written now, as this is called in another thread.
        """
        outcomes = self._outcomes[exercise.id]
        outcomes[outcome.check] = outcome
        graded = graded_so_far(exercise, self._submission, checks, list(outcomes.values()))
        self.latest[exercise.id] = WorkResult(self._works[exercise.id], graded, final=False)
        self._has_news = True

    def still_waiting(self) -> None:
        """Write the report if anything new was recorded, unless it was written just before."""
        began = time.monotonic()
        if self._has_news and began >= self._rest_ends:
            self._has_news = False
            self._write(self.report())
            self._rest_ends = time.monotonic() + _REST * (time.monotonic() - began)

    def report(self) -> Report:
        """Return the report of what is known so far."""
        return report_of_submission(self._plan, self._submission, self.latest)


def grade_checkout(
    plan: RunPlan,
    submission: Submission,
    write: Callable[[Report], None],
    progress: Progress,
    remove_reports: Callable[[], None] = lambda: None,
) -> Report:
    """Grade a checkout, and write its report before, during and after the run.

    Args:
        plan: the run plan.
        submission: the checkout.
        write: a function that receives the report before anything ran, again and again as checks end, and at the end.
        progress: the receiver of each graded exercise of which at least one check was run.
        remove_reports: a callback that removes the reports. It is called if an error ends the run before any check was
            run, as the report that was written first does not mention the error.

    Raises:
        StartError: a process of ours did not start.
        ConfinementError: student code cannot be confined as well as the set-up requires.
    """
    news = _InterimReports(plan, submission, write, progress)
    write(news.report())  # a place that cannot be written is reported before all else
    hidden, known = (submission.root,) if submission.root else (), KnownMistakes(plan.setup)
    try:
        with Runtime(plan.to_run(submission), plan.setup, hidden=hidden, known=known, progress=news) as runtime:
            report = grade_submission(plan, submission, runtime)
    except KeyboardInterrupt:  # the job's time is over
        report = news.report()
    except GraderError:
        if not any(one.graded.checks for one in news.latest.values()):
            remove_reports()
        raise
    write(report)
    return report


def remove_committed_reports(places: Iterable[str]) -> None:
    """Remove the files that lie where reports will be written.

    A report that a student committed must not pass for ours.

    Raises:
        CourseError: one of them cannot be removed.
    """
    for place in places:
        for path in (Path(place), Path(f"{place}{DRAFT}")):
            if Path("/dev") in path.absolute().parents or not (path.is_file() or path.is_symlink()):
                continue
            with failing_as(f"{path} was there before, and cannot be removed"):
                path.unlink()


def write_files(report: Report, json_path: str | None, formats: Formats, options: Options, *, staff: bool) -> None:
    """Write the JSON of a report, and a file for each format that does not go to standard output.

    Args:
        report: the report of the job.
        json_path: the path of the JSON; None if nobody wants it.
        formats: the formats, each with its place; those that go to standard output are left out.
        options: the options of the formats.
        staff: True if the JSON has what only staff may read.

    Raises:
        GraderError: a file would be larger than its platform takes.
        CourseError: a file cannot be written, the environment lacks what its format needs, or it would show points that
            must not be shown.
    """
    if json_path is not None:
        write_named(json_path, report_json(report, staff=staff), "--json")
    read = ReportFile.of(report)
    for name, place in formats:
        if place != "-":
            write_format(name, place, read, options)
