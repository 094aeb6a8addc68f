"""`grade [EXERCISE…]`: grade the course in this folder."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.options import (
    complete_grade,
    confinement_option,
    device_option,
    plain_option,
    read_setup,
    seed_option,
    staff_option,
    start_option,
)
from grader.cli.telling import Say, broken_of, check_rules, course_and_exercises, drawing, terminal_width, told_errors

if TYPE_CHECKING:
    from grader.grading.grade import Sheet
    from grader.grading.known import Known
    from grader.model import GradedExercise, Report, Submission
    from grader.model.messages import Setup
    from grader.report.from_json import ReadReport

POINTS_LOST = 1
UNDECIDED = 3


@click.command("run", hidden=True)
@click.argument("names", metavar="[EXERCISE]... [RULE]...", nargs=-1, shell_complete=complete_grade)
@click.option("--submission", type=click.Path(path_type=Path), help="A folder, zip or file to grade.")
@click.option("--json", "json_path", metavar="FILE", help="Write the report as JSON; - for standard output.")
@click.option("--html", "html_path", metavar="FILE", help="Write the report as a page for a browser.")
@staff_option
@seed_option
@click.option("--like", metavar="REPORT", help="As in the run of that report: its seed, limits, start and author.")
@click.option("-x", "--exitfirst", "stops", is_flag=True, help="Stop at the first check that loses points.")
@click.option("--fresh", is_flag=True, help="Run also what has not changed since the last run.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the table and the total.")
@click.option("-v", "--verbose", is_flag=True, help="Show every check with its message, also those that passed.")
@plain_option
@confinement_option("none")
@device_option
@start_option
def command(
    names: tuple[str, ...],
    submission: Path | None,
    json_path: str | None,
    html_path: str | None,
    staff: bool,
    seed: int | None,
    like: str | None,
    stops: bool,
    fresh: bool,
    quiet: bool,
    verbose: bool,
    plain: bool,
    confinement: str,
    device: str,
    start: str | None,
) -> None:
    """Grade exercises, print what to mend, and say what to do next."""
    say = Say(quiet=json_path == "-")
    if not quiet:
        say("Grading ...")
    with told_errors():
        _can_write("--json", None if json_path == "-" else json_path)
        _can_write("--html", html_path)
        setup, earlier = read_setup(start, device, confinement, seed or 0), None
        details = say if not quiet else Say(quiet=True)
        if like is not None:
            from grader.report.like import read_like, setup_like

            earlier = read_like(Path(like))
            setup = setup_like(earlier, setup, start is not None)
        programs = json_path is not None
        lines = partial(_exercise_lines, every=verbose, plain=plain)
        answers = not (fresh or stops or programs or like or submission)
        seeded = seed is not None or like is not None
        how = _How(stops=stops, for_programs=programs, answers=answers, seeded=seeded)
        report, all_run = _grade((names, earlier), submission, setup, (say, details), lines, how)
        _write(report, (json_path, html_path), say, staff=staff)
    sys.exit(_exit_status(report) if all_run else UNDECIDED)


@dataclass(frozen=True)
class _How:
    """Whether a run stops at what loses points, is for programs, takes earlier answers, and was given its seed."""

    stops: bool
    for_programs: bool
    answers: bool
    seeded: bool


def _grade(
    wanted: tuple[tuple[str, ...], ReadReport | None],
    submission: Path | None,
    setup: Setup,
    says: tuple[Say, Say],
    lines: Callable[[GradedExercise, int], Iterator[str]],
    how: _How,
) -> tuple[Report, bool]:
    """Grade what is wanted, and tell of it with the first of `says`; of exercises with the second, in these lines.

    With the report comes whether no exercise was left out.
    """
    from grader.course.kept import kept_mistakes
    from grader.grading.known import Known
    from grader.report.like import differences
    from grader.report.terminal import summary_lines, unread_lines
    from grader.student.after import after_run
    from grader.student.answered import Answered, in_turn, unchanged_lines, with_known

    sheet, handed_in = _sheet(wanted, submission, setup, how)
    course, exercises = sheet.course, sheet.exercises
    answered = Answered(sheet, handed_in) if how.answers and not sheet.rules else None
    known_rows = answered.rows() if answered else {}
    sheet = replace(sheet, exercises=[exercise for exercise in exercises if exercise.id not in known_rows])
    width = terminal_width()
    say, details = says
    details(*unread_lines(handed_in, width))

    tell = in_turn(exercises, known_rows, lambda graded: details(*lines(graded, width), ""))
    known = Known(setup, kept_mistakes(course))
    # All is told before the lanes are closed: nobody waits for that to read it.
    with _graded(sheet, handed_in, submission or course.root, known, details, tell) as found:
        tell(None)
        report = with_known(found, exercises, known_rows)
        say(*summary_lines(report, width))
        details(*unchanged_lines(known_rows, width))
        say(*(differences(wanted[1], report, width) if wanted[1] else ()))
        if submission is None:
            details(*after_run(course, report, width))
            with suppress(OSError):  # it can be found out again, in a second or two
                known.write()
                if answered:
                    answered.keep(report.exercises)
    return report, not broken_of(course, wanted[0])


def _sheet(
    wanted: tuple[tuple[str, ...], ReadReport | None], submission: Path | None, setup: Setup, how: _How
) -> tuple[Sheet, Submission]:
    """What is to be graded, and of whose files."""
    from grader.course.layout import is_given
    from grader.course.names import split_rules
    from grader.grading.grade import Sheet
    from grader.grading.secret import read_secret
    from grader.intake.collect import collect_one, read_submission
    from grader.report.like import exercises_like

    words, earlier = wanted
    names, rules = split_rules(words)
    course, exercises = course_and_exercises(names)
    check_rules(exercises, rules)
    if earlier is not None:
        exercises = exercises_like(earlier, exercises)
    place = (submission or course.root).resolve()
    author = earlier.author if earlier else place.stem if place.is_file() else place.name
    if submission is None:
        handed_in = read_submission(course.root, exercises, author)
    else:
        handed_in = collect_one(submission, course.exercises, exercises, author)
        # Somebody else's files and hidden checks: nobody may compute the inputs. A student's own folder keeps its seed.
        if not how.seeded and not is_given(course.root) and any(exercise.hidden_checks for exercise in exercises):
            setup = replace(setup, secret=read_secret(None))
    # A module stands for what was begun of it; an exercise by its own name is run also where it was not.
    alone = bool(names) and len(exercises) <= len(names)
    # In a report for programs each check has a row; a student reads one sentence, and at once.
    sheet = Sheet(course, exercises, setup, runs_untouched=alone, has_folder=True, rules=rules)
    return replace(sheet, stops=how.stops, compiles=not how.for_programs), handed_in


@contextmanager
def _graded(
    sheet: Sheet,
    handed_in: Submission,
    folder: Path,
    known: Known,
    details: Say,
    on_exercise: Callable[[GradedExercise], None],
) -> Iterator[Report]:
    """The report of a submission, in as many lanes as it is worth; they are open meanwhile."""
    from grader.grading.diagnose import explainer
    from grader.grading.grade import grade_at_once
    from grader.grading.together import grade_together, lanes_for
    from grader.runner.open import open_lane
    from grader.runner.pool import open_pool

    to_run, setup, started = sheet.to_run(handed_in), sheet.setup, time.monotonic()
    if (lanes := lanes_for(sheet, handed_in)) > 1:

        def on_wait(done: int, total: int) -> None:
            details.running(f"{done} of {total} exercises", time.monotonic() - started)

        with open_pool(to_run, setup, lanes, hidden=(folder,)) as pool:
            yield grade_together(sheet, handed_in, pool, known, on_exercise, on_wait)
        return
    with open_lane(to_run, setup, hidden=(folder,)) if to_run else nullcontext() as lane:
        if lane:
            lane.watch = details.running
        explain = explainer(handed_in, setup, lane, known)
        yield grade_at_once(sheet, handed_in, lane, explain=explain, on_exercise=on_exercise)


def _exercise_lines(graded: GradedExercise, width: int, *, every: bool, plain: bool) -> Iterator[str]:
    from grader.report.terminal import exercise_lines

    return exercise_lines(graded, width, every=every, drawing=drawing(plain=plain))


def _can_write(option: str, path: str | None) -> None:
    """Say so before anything is graded, if the report cannot be written."""
    from grader.model.errors import CourseError

    if path is None:
        return
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise CourseError(f"{option}: there is no folder {folder}; make it first")
    if Path(path).is_dir() or not os.access(folder, os.W_OK):
        raise CourseError(f"{option}: no file can be written at {path}; name another place")


def _write(report: Report, paths: tuple[str | None, str | None], say: Say, *, staff: bool) -> None:
    from grader.model.files import write_whole
    from grader.report.as_json import to_plain, write_json

    json_path, html_path = paths
    if json_path == "-":
        import json

        click.echo(json.dumps(to_plain(report, staff=staff), indent=1))
    elif json_path:
        write_json(Path(json_path), report, staff=staff)
        say(f"The report is in {json_path}")
    if html_path:
        from grader.report.html import page

        write_whole(Path(html_path), page(report))
        say(f"The report for a browser is in {html_path}")


def _exit_status(report: Report) -> int:
    verdicts = {row.outcome.verdict.value for graded in report.exercises for row in graded.checks}
    if verdicts & {"broken", "inconclusive"}:
        return UNDECIDED
    total = report.score
    return POINTS_LOST if total.earned + total.undecided < total.possible else 0
