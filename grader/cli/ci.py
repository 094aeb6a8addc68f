"""What runs in CI jobs, and what sets them up: `grade ci`, `init-ci`, `package` and `clone`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from grader.ci.files import PLATFORMS
from grader.cli import options
from grader.cli.exit_status import exit_status
from grader.model.files import write_named, zip_bytes
from grader.model.report import Score, score_after_policy
from grader.model.score import final_score_of, points_text
from grader.report.console import Say

if TYPE_CHECKING:
    from grader.ci.job import Checkout
    from grader.grading.plan import RunPlan
    from grader.model import Submission
    from grader.model.messages import Setup
    from grader.report.export.formats import Visibility

NEVER = "never"


def _check_percent(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the value of `--fail-below` if it is a percentage such as "75", `never` or None.

    Raises:
        BadParameter: the value is anything else.
    """
    with suppress(ValueError):
        if value is None or value == NEVER or 0 <= float(value) <= 100:
            return value
    raise click.BadParameter(f"{value!r} is neither a percentage from 0 to 100 nor {NEVER}")


@click.command("ci")
@click.argument("names", metavar="[EXERCISE]...", nargs=-1)
@click.option("--submission", default=".", type=options.PATH, help="The checkout; by default this folder.")
@click.option("--course", type=options.PATH, help="The course with its checks, outside of the checkout.")
@options.handin
@click.option("--changed-since", metavar="COMMIT", help="Grade only what was changed since a commit.")
@click.option("--json", "json_path", metavar="FILE", help="Write the report as JSON.")
@options.staff
@options.format_option()
@options.points
@options.hidden
@click.option(
    "--fail-below",
    default="100",
    callback=_check_percent,
    metavar="PERCENT|never",
    show_default=True,
    help="Exit with status 1 if less than this percentage of the decided points was earned.",
)
@click.option("--author", help="The author's name; by default that of the repository or the folder.")
@options.seed
@click.option(
    "--secret-file",
    type=options.PATH,
    help="A file with the secret from which random inputs of --course are made; by default the secret in GRADE_SECRET, "
    "else a new one for each run.",
)
@options.workers(None, "full with --course, else none")
def ci_command(
    names: tuple[str, ...],
    submission: Path,
    course: Path | None,
    handin: str | None,
    changed_since: str | None,
    json_path: str | None,
    staff: bool,
    formats: tuple[tuple[str, str], ...],
    points: bool | None,
    hidden: Visibility,
    fail_below: str,
    author: str | None,
    seed: int | None,
    secret_file: Path | None,
    workers: options.Workers,
) -> None:
    """Grade a checkout in a CI job. It writes annotations to the log, a summary page, outputs of the job, and files."""
    say = Say(quiet=any(place == "-" for _, place in formats))
    say.meanwhile("Grading ...")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: a job's time may be over
    from grader.ci.job import Platform, grade_checkout, is_passed, open_checkout, remove_committed_reports, write_files
    from grader.grading.secret import read_secret
    from grader.report.export.formats import Options, write_format
    from grader.report.progress_lines import GradedNames
    from grader.report.schema import ReportFile

    places = [place for place in (json_path, *(place for _, place in formats)) if place]
    remove_committed_reports(places)
    platform = Platform.of(os.environ)
    checkout = open_checkout(submission, course)
    # Without hidden checks there is nothing to keep from student code: a machine that cannot confine it will do.
    setup = workers.setup(seed or 0, confinement="none" if course is None else "full")
    if course is not None and seed is not None:
        raise click.UsageError("--seed makes inputs that students can compute; with --course use --secret-file")
    if course is not None:  # other people's work: inputs that cannot be computed from a check's id
        setup = replace(setup, secret=read_secret(secret_file))
    folder = platform.folder_of(checkout.folder)
    choices = Options(os.environ, not platform.is_public if points is None else points, hidden, folder)
    if not choices.points:
        json_path, formats = _drop_point_formats(json_path, formats, say, by_option=points is False)
    plan, handed_in = _plan_and_submission(checkout, names, handin, changed_since, author or platform.author, setup)
    say(*_notes_for_log(checkout, plan, handed_in))
    write = partial(write_files, json_path=json_path, formats=formats, options=choices, staff=staff)
    undo = partial(remove_committed_reports, places)
    report = grade_checkout(plan, handed_in, write, GradedNames(say), undo)
    read = ReportFile.of(report)
    passed = is_passed(read, 100 if fail_below == NEVER else float(fail_below))
    for name, place in formats:
        if place == "-":
            write_format(name, place, read, choices)
    say(platform.log(read, choices).rstrip("\n"), color=True)
    platform.publish(read, choices, passed=passed, with_result="classroom" in dict(formats))
    if fail_below != NEVER:
        sys.exit(exit_status(report, passed=passed))


def _drop_point_formats(
    json_path: str | None, formats: tuple[tuple[str, str], ...], say: Say, *, by_option: bool
) -> tuple[None, tuple[tuple[str, str], ...]]:
    """Leave out the JSON and the formats that consist of points.

    A line is printed for each file that is not written.

    Args:
        json_path: the path of the JSON, or None.
        formats: the formats, each with its file.
        say: the printer.
        by_option: True if the user typed `--no-points`; else points are left out because everybody can read them here.

    Returns:
        None in place of `json_path`, and the formats that are left.

    Raises:
        UsageError: `--no-points` was typed together with the JSON or such a format.
    """
    from grader.report.export.formats import OF_POINTS

    named = [*(["--json"] if json_path else []), *(f"--format {name}" for name, _ in formats if name in OF_POINTS)]
    if named and by_option:
        raise click.UsageError(f"{named[0]} consists of points, which --no-points leaves out; remove one of the two")
    say(*(f"{name} is not written: it consists of points, and everybody can read them here." for name in named))
    say(*(["To write it nevertheless, add --points"] if named else []))
    return None, tuple(pair for pair in formats if pair[0] not in OF_POINTS)


def _plan_and_submission(
    checkout: Checkout, names: tuple[str, ...], handin: str | None, changed_since: str | None, author: str, setup: Setup
) -> tuple[RunPlan, Submission]:
    """Choose the exercises that a CI job grades, and read the files of the checkout.

    Args:
        checkout: the student's repository and its course.
        names: the names of exercises and modules to which grading is restricted; () for no restriction.
        handin: the name of the hand-in whose exercises are graded; None for all exercises.
        changed_since: the commit since which an exercise's files must have changed; None if this does not matter.
        author: the author's name; "" for the name of the folder.
        setup: the set-up of the run.

    Returns:
        The run plan, which has the exercises to grade; and the submission with the student's files.
    """
    from grader.ci.job import changed_exercises
    from grader.course.load import find_exercises
    from grader.grading.plan import RunPlan
    from grader.intake.collect import collect_one

    course = checkout.course
    wanted = {exercise.id for name in names for exercise in find_exercises(course, name)}
    exercises = options.exercises_in(options.handin_of(course, handin), course.exercises)
    exercises = [exercise for exercise in exercises if not wanted or exercise.id in wanted]
    handed_in = collect_one(checkout.folder, course.exercises, exercises, author or checkout.folder.name)
    if changed_since is not None:
        changed = changed_exercises(checkout, handed_in, changed_since)
        exercises = [exercise for exercise in exercises if exercise in changed]
    return RunPlan(course, exercises, setup, handin=handin), handed_in


def _notes_for_log(checkout: Checkout, plan: RunPlan, submission: Submission) -> Iterator[str]:
    """Yield sentences for the job's log, such as that an author can change the checks."""
    from grader.report.export.formats import log_line

    if checkout.has_own_checks:
        yield "The checks are those of this repository, which its author can change: the score is advice."
    for exercise in plan.exercises:
        if notes := submission.files_of(exercise).notes:
            yield log_line(f"{exercise.id}: {'; '.join(notes)}")
    if not plan.exercises:
        yield "No exercise has changed, so nothing is graded."


@click.command("init-ci")
@click.argument("platform", type=click.Choice(list(PLATFORMS)))
@click.argument("folder", metavar="[DIR]", default=".", type=options.PATH)
@options.handin
@options.package
@options.confinement_option(
    None,
    "full for a class, else reduced",
    "The least confinement of student code to accept in jobs with hidden checks.",
)
@options.hidden
@click.option(
    "--fail-below",
    callback=_check_percent,
    metavar="PERCENT|never",
    help="A student's job fails if less than this percentage of the decided points was earned; by default 100.",
)
@click.pass_context
def init_ci_command(
    ctx: click.Context,
    platform: str,
    folder: Path,
    handin: str | None,
    requirement: str | None,
    confinement: str | None,
    hidden: Visibility,
    fail_below: str | None,
) -> None:
    """Write the files that a CI platform needs. They go into DIR or this folder, and overwrite nothing."""
    from grader.ci.files import JobOptions, grader_package, platform_files, write_all
    from grader.course.layout import is_course

    kind = PLATFORMS[platform]
    for name in ("handin", "confinement", "hidden", "fail_below"):
        if name not in kind.uses and ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
            unused, *used = (f"--{known.replace('_', '-')}" for known in (name, "package", *kind.uses))
            raise click.UsageError(f"{unused} has no effect on {platform}, which uses {', '.join(used)}")
    needs_course = platform == "prairielearn" or handin is not None
    is_here = requirement is None and any(is_course(each) for each in (Path.cwd(), *Path.cwd().parents))
    course = options.course_here() if needs_course or is_here else None
    if confinement is None and platform in ("gradescope", "prairielearn"):
        confinement = "reduced"  # their containers give no namespaces
    chosen = options.handin_of(course, handin) if course else None
    package, index = (requirement, "") if requirement else grader_package(course)
    chosen_options = JobOptions(package, confinement or "", chosen, fail_below or "", hidden, index)
    files = platform_files(platform, chosen_options, course)
    write_all(files, folder)
    Say()(*(f"wrote {(folder / path).as_posix()}" for path in files), kind.then)


@click.command("package")
@click.argument("platform", type=click.Choice(["gradescope"]))
@click.option("--out", default="autograder.zip", show_default=True, type=options.PATH, help="The zip.")
@options.handin
@options.package
@options.course
@options.confinement_option(
    "reduced", purpose="The least confinement to accept; with none, student code can read the hidden checks."
)
@options.hidden
def package_command(
    platform: str,
    out: Path,
    handin: str | None,
    requirement: str | None,
    course_folder: Path | None,
    confinement: str,
    hidden: Visibility,
) -> None:
    """Make a Gradescope autograder. It is a zip of its programs and the whole course."""
    from grader.ci.files import PROGRAMS, JobOptions, autograder_files, grader_package

    course = options.course_here(course_folder, whole=True)
    chosen = options.handin_of(course, handin)
    wanted, index = (requirement, "") if requirement else grader_package(course)
    files = autograder_files(course, JobOptions(wanted, confinement, chosen, hidden=hidden, index=index))
    write_named(out, zip_bytes(files, PROGRAMS), "--out")
    scores = {one.id: Score(0, one.points) for one in options.exercises_in(chosen, course.exercises)}
    points = score_after_policy(scores, final_score_of(scores, chosen)).possible
    Say()(
        f"wrote {out.as_posix()}: {len(files)} files, with every hidden check and solution; do not share it",
        f"Make an assignment of {points_text(points)} points, with Ubuntu 22.04 or later, and upload it there.",
    )


@click.command("clone")
@click.argument("names", metavar="LIST", type=options.PATH)
@click.argument("folder", metavar="DIR", type=options.PATH)
@options.handin
@options.course
@click.option(
    "--until",
    metavar="TIME",
    help="Take the last commit before TIME; by default before the hand-in is due for its author.",
)
@click.option(
    "--not-by",
    "not_by",
    metavar="WHO",
    multiple=True,
    help="Commits by this name or e-mail address do not count, such as those of staff. May be given several times.",
)
def clone_command(
    names: Path,
    folder: Path,
    handin: str | None,
    course_folder: Path | None,
    until: str | None,
    not_by: tuple[str, ...],
) -> None:
    """Clone the repositories that LIST names, one on each line, into DIR: a folder for each, for grade batch.

    With --handin, only commits that changed a file of the hand-in count; commits of bots never do. A token in
    CLASS_TOKEN may read the repositories. DIR.csv lists the repository, the commit and its time for each folder; grade
    batch counts the days late from that time.
    """
    from grader.ci.clones import CommitFilter, clone_class, parse_moment, read_class, server_of
    from grader.report.names import fold_name

    server = server_of(os.environ)
    repositories = read_class(names, server)
    at, longer = parse_moment(until) if until else None, dict[str, datetime]()
    course = options.course_here(course_folder) if handin is not None else None
    chosen = options.handin_of(course, handin) if course else None
    commit_filter = CommitFilter(not_by=frozenset(who.lower() for who in not_by))
    if course and chosen:
        commit_filter = replace(
            commit_filter, course=course.exercises, wanted=options.exercises_in(chosen, course.exercises)
        )
    if course and chosen and chosen.due and not at:
        slack = timedelta(minutes=course.policy.slack_minutes)
        longer = {fold_name(name): due + slack for name, due in chosen.extensions.items()}
        at = chosen.due + slack
    say = Say()
    for line in clone_class(repositories, folder, lambda name: longer.get(fold_name(name), at), server, commit_filter):
        say.prose(line)
    say(f"They are in {folder.as_posix()}" + (f", as of {at.isoformat(timespec='minutes')}" if at else ""))
    if course and at and not until and (course.policy.percent_a_day or course.policy.grace_days):
        say.prose("Later commits do not count. With --until TIME they do, and grade batch counts the days late.")
