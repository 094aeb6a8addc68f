"""`grade batch DIR --out OUT`: grade a folder of submissions."""

from __future__ import annotations

import signal
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.cli.exit_status import UNDECIDED
from grader.model.errors import CourseError
from grader.model.score import pluralize
from grader.report.console import INTERRUPTED, Say, explain_missing_package
from grader.report.safe import for_terminal

if TYPE_CHECKING:
    from grader.batch.journal import Shard
    from grader.batch.results_folder import ResultsFolder
    from grader.batch.run import BatchOptions, OpenExecutor, Summary
    from grader.grading.plan import RunPlan
    from grader.intake.collect import Intake
    from grader.model import Course, Report


@click.command("batch")
@click.argument("folder", metavar="DIR", type=options.PATH)
@click.option("--out", required=True, type=options.PATH, help="The folder for reports and the gradebook.")
@options.handin
@click.option("--only", multiple=True, metavar="EX", help="Grade only this exercise or module; other results stay.")
@click.option("--author", "authors", multiple=True, help="Grade only this author or group; other rows stay.")
@click.option("--rerun", type=click.Choice(["broken", "all"]), help="Grade again what is broken, or all.")
@click.option("--never-lower", is_flag=True, help="Do not count a score that is lower than before.")
@click.option(
    "--attempts",
    type=click.Choice(["latest", "best"]),
    help="Which of several files of one exercise counts; by default what course.yaml says, else the latest.",
)
@options.lanes
@click.option(
    "--cluster", metavar="ADDRESS", help="Grade on a Dask cluster: tls://HOST:PORT, a scheduler file, or local:N."
)
@click.option("--shard", metavar="I/N", help="Grade only every N-th submission, from the I-th on.")
@click.option("--layout", help="How DIR is laid out: canvas, moodle, gradescope, clones, nbgrader, plain.")
@click.option(
    "--roster",
    type=options.PATH,
    help="Everybody in the class: Canvas's gradebook, a Moodle grading worksheet, or a CSV file.",
)
@click.option("--names", is_flag=True, help="Show names of people, and not only the platform's numbers.")
@click.option("-q", "--quiet", is_flag=True, help="Print only where the results are.")
@options.course
@options.staff
@options.workers("full")
def batch_command(
    folder: Path,
    out: Path,
    handin: str | None,
    only: tuple[str, ...],
    authors: tuple[str, ...],
    rerun: str | None,
    never_lower: bool,
    attempts: str | None,
    lanes: int | None,
    cluster: str | None,
    shard: str | None,
    layout: str | None,
    roster: Path | None,
    names: bool,
    quiet: bool,
    course_folder: Path | None,
    staff: bool,
    workers: options.Workers,
) -> None:
    """Grade a folder of submissions: one for each author, or a download of Canvas, Moodle, Gradescope.

    The same command continues an interrupted run, and grades only what changed.
    """
    say, details = Say(), Say(quiet=quiet)
    details.meanwhile(what := f"Grading {folder} into {out}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: a job's time may be over
    from grader.batch.results_folder import ResultsFolder
    from grader.batch.run import BatchOptions
    from grader.batch.run_text import run_sentences
    from grader.grading.plan import RunPlan
    from grader.intake.collect import open_intake

    course, exercises = options.course_and_exercises((), course_folder)
    broken = options.broken_of(course, handin=(chosen := options.handin_of(course, handin)))
    if chosen:
        options.print_broken([item for item in broken if not item.module])
    exercises = options.exercises_in(chosen, exercises)
    part = _parse_shard(shard)
    executor = _cluster_opener(cluster, lanes)
    named = _only_ids(course, only, [exercise.id for exercise in exercises], handin)
    plan = RunPlan(course, exercises, workers.setup(), handin=handin)
    with open_intake(folder, course.exercises, layout, out) as intake:
        details(for_terminal(what, one_line=True), intake.title())  # it is not wrapped: names may be long
        details.prose(*(for_terminal(note, one_line=True) for note in intake.notes))
        wanted = _author_keys(intake, authors)
        best = (attempts or course.attempts) == "best"
        batch_options = BatchOptions(
            named, wanted, rerun or "", never_lower, best, staff, part, roster, names, str(folder.resolve()), layout
        )
        results = ResultsFolder.make(out)
        summary = _grade_class(plan, intake, results, batch_options, executor, lanes, details)
    say.prose(*run_sentences(summary, batch_options, results))
    for item in broken:
        say.prose(f"BROKEN  {item.id} was not graded: fix it as described above, then run this again.")
    sys.exit(UNDECIDED if summary.broken or summary.unread or broken else 0)


def _grade_class(
    plan: RunPlan,
    intake: Intake,
    results: ResultsFolder,
    batch_options: BatchOptions,
    executor: OpenExecutor | None,
    lanes: int | None,
    say: Say,
) -> Summary:
    """Grade a class, print the results as they come, and return a summary.

    Each author has a line as soon as the submission is graded. The gradebook is printed at the end.
    """
    from grader.batch.run import grade_batch
    from grader.grading.lanes import lanes_here
    from grader.report.gradebook import ClassProgress, gradebook_lines

    names = {one.key: one.name for one in intake.handed if batch_options.names}

    def on_gradebook(reports: Iterator[Report]) -> None:
        say("")
        shown = [exercise for exercise in plan.exercises if not batch_options.only or exercise.id in batch_options.only]
        for line in gradebook_lines(shown, reports, names):
            say(line)

    slots = lanes or lanes_here()
    progress = ClassProgress(say, names)
    try:
        return grade_batch(
            plan, intake, results, batch_options, progress, slots=slots, executor=executor, on_gradebook=on_gradebook
        )
    except KeyboardInterrupt:
        say()  # erases the line that showed the pace
        click.echo(
            f"grade: interrupted after {pluralize(progress.done, 'author')}; the same command goes on from there",
            err=True,
        )
        left = f"the gradebook so far is in {results.path}"
        if batch_options.shard:
            left = "a run without --shard writes the gradebook"
        click.echo(f"grade: {left}", err=True)
        sys.exit(INTERRUPTED)


def _cluster_opener(address: str | None, lanes: int | None) -> OpenExecutor | None:
    """Return a function that opens the cluster at an address; None without an address.

    Raises:
        CourseError: there is no such cluster, or it cannot be used.
    """
    if address is None:
        return None
    from grader.grading.lanes import lanes_here

    if lanes and not address.startswith("local:"):
        raise CourseError("-j has no effect on a cluster: each of its workers has a lane for each of its threads")
    with explain_missing_package("dask.distributed", "cluster"):
        from grader.cluster.cluster import open_cluster

    return lambda plan, progress: open_cluster(address, plan, lanes or lanes_here(), progress)


def _parse_shard(text: str | None) -> Shard | None:
    """Parse the value of `--shard`: "2/4" becomes `Shard(2, 4)`.

    Return None if the option was not given.

    Raises:
        CourseError: the value is not of this form.
    """
    from grader.batch.journal import Shard

    if text is None:
        return None
    number, slash, count = text.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal() and 0 < int(number) <= int(count)):
        raise CourseError(f"--shard: {text!r} is not a shard; write 2/4 for the second of four, or 1/4 for the first")
    return Shard(int(number), int(count))


def _only_ids(course: Course, names: Sequence[str], exercises: Sequence[str], handin: str | None) -> list[str]:
    """Return the ids of the exercises that `--only` names, by exercise or module.

    Raises:
        CourseError: nothing has that name, or it is not in the hand-in.
    """
    from grader.course.load import find_exercises

    named = list(dict.fromkeys(exercise.id for name in names for exercise in find_exercises(course, name)))
    here = [id for id in named if id in exercises]
    if named and not here:
        raise CourseError(f"--only: {named[0]} is not in the hand-in {handin}, which has {', '.join(exercises)}")
    return here


def _author_keys(intake: Intake, names: Sequence[str]) -> list[str]:
    """Return the keys of the submissions that `--author` names, by a person or a group.

    If the persons 4 and 5 handed in as group 17, each of these three names has the key "17".

    Raises:
        CourseError: no submission has this author; the message suggests the nearest name.
    """
    from grader.course.files import suggestion

    keys = defaultdict[str, list[str]](list)
    for handed in intake.handed:
        for who in {handed.key, handed.name, *handed.authors}:
            keys[who].append(handed.key)
    for name in names:
        if name not in keys:
            raise CourseError(f"--author: there is no submission by {name!r}{suggestion(name, list(keys))}")
    return [key for name in names for key in keys[name]]
