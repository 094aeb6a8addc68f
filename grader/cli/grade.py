"""`grade [EXERCISE…]`: grade the course in this folder."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.model import Exercise, GradedExercise, Report, Submission, Verdict
from grader.model.errors import CourseError
from grader.model.files import write_named
from grader.report.console import Say, drawing, terminal_width
from grader.report.terminal import exercise_lines, summary_lines

if TYPE_CHECKING:
    from grader.grading.plan import Finished, RunPlan
    from grader.model.messages import Setup
    from grader.report.schema import ReportFile

POINTS_LOST = 1
UNDECIDED = 3


@click.command("run", hidden=True)
@click.argument("names", metavar="[EXERCISE]... [RULE]...", nargs=-1, shell_complete=options.complete_grade)
@click.option("--submission", type=options.PATH, help="A folder, zip or file to grade; by default this course.")
@click.option("--json", "json_path", metavar="FILE", help="Write the report as JSON; - for standard output.")
@click.option("--html", "html_path", metavar="FILE", help="Write the report as a page for a browser.")
@options.staff
@options.seed
@click.option("--like", metavar="REPORT", help="Repeat the run of a report: its seed, limits, start and author.")
@click.option("-x", "--exitfirst", "stops", is_flag=True, help="Stop at the first check that loses points.")
@click.option("--fresh", is_flag=True, help="Also run what has not changed since the last run.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the table and the total.")
@click.option("-v", "--verbose", is_flag=True, help="Show every check with its message, even if it passed.")
@options.plain
@options.workers("none")
def run_command(
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
    workers: options.Workers,
) -> None:
    """Grade exercises, print what to fix, and say what to do next."""
    say, details = Say(quiet=json_path == "-"), Say(quiet=quiet or json_path == "-")
    details.meanwhile("Grading ...")
    from grader.report.schema import differences, read_like, report_json

    setup, earlier = workers.setup(seed or 0), None
    if like is not None:
        earlier, same = read_like(Path(like))
        setup = replace(setup, seed=same)
    plan, handed_in = _plan(names, submission, setup, earlier, seeded=seed is not None or like is not None)
    # In a report for programs each check has a row; a student reads one sentence, and at once.
    plan = replace(plan, stops=stops, compiles=json_path is None)
    saves = not (stops or json_path or like or submission or plan.rules)
    shown = partial(exercise_lines, width=terminal_width(), every=verbose, drawing=drawing(plain=plain))
    report = _graded(plan, handed_in, submission, (say, details), shown, saves=saves, fresh=fresh)
    if earlier is not None:
        say.prose(*differences(earlier, report))
    if json_path:
        write_named(json_path, report_json(report, staff=staff), "--json")
        say(f"The report is in {json_path}")
    if html_path:
        from grader.report.html import page

        write_named(html_path, page(report), "--html")
        say(f"The report for a browser is in {html_path}")
    sys.exit(UNDECIDED if options.broken_of(plan.course, names) else exit_status(report))


def _plan(
    words: tuple[str, ...], submission: Path | None, setup: Setup, earlier: ReportFile | None, *, seeded: bool
) -> tuple[RunPlan, Submission]:
    """What is to be graded, and of whose files."""
    from grader.course.layout import is_given
    from grader.course.load import split_rules
    from grader.grading.plan import RunPlan
    from grader.grading.secret import read_secret
    from grader.intake.collect import collect_one, read_submission
    from grader.report.schema import exercises_like

    names, rules = split_rules(words)
    course, exercises = options.course_and_exercises(names)
    _check_rules(exercises, rules)
    if earlier is not None:
        exercises = exercises_like(earlier, exercises)
    place = (submission or course.root).resolve()
    author = earlier.author if earlier else place.stem if place.is_file() else place.name
    if submission is None:
        handed_in = read_submission(course.root, exercises, author)
    else:
        handed_in = collect_one(submission, course.exercises, exercises, author)
        # Hidden checks on files of somebody else: inputs must not be computable. A student's own folder keeps its seed.
        if not seeded and not is_given(course.root) and any(exercise.hidden_checks for exercise in exercises):
            setup = replace(setup, secret=read_secret(None))
    # A module stands for the exercises of it that were begun; an exercise that is named itself is run in any case.
    alone = bool(names) and len(exercises) <= len(names)
    return RunPlan(course, exercises, setup, runs_untouched=alone, has_folder=True, rules=rules), handed_in


def _graded(
    plan: RunPlan,
    handed_in: Submission,
    submission: Path | None,
    says: tuple[Say, Say],
    shown: Callable[[GradedExercise], Iterator[str]],
    *,
    saves: bool,
    fresh: bool,
) -> Report:
    """Grade, and print the report with the first of `says`; exercises and advice with the second."""
    from grader.course.layout import kept_results
    from grader.grading.diagnosis import Known
    from grader.grading.lanes import lanes_for, open_lanes
    from grader.grading.schedule import grade_submission
    from grader.grading.store import open_store
    from grader.student.advice import after_run, unchanged_lines

    course, width, started = plan.course, terminal_width(), time.monotonic()
    say, details = says
    done = saved = 0
    details.prose(*(f"{id}: {'; '.join(own.notes)}" for id, own in handed_in.exercises.items() if own.notes))

    def on_finished(one: Finished) -> None:
        nonlocal done, saved
        done, saved = done + 1, saved + one.saved
        if one.graded.checks or one.graded.left_out:
            details(*shown(one.graded), "")

    def on_wait() -> None:
        if slots > 1:
            details.running(f"{done} of {len(plan.exercises)} exercises", time.monotonic() - started)

    slots, to_run, hidden = lanes_for(plan, handed_in), plan.to_run(handed_in), (submission or course.root,)
    watch = details.running if slots == 1 else None
    grade = partial(grade_submission, plan, handed_in, fresh=fresh, on_finished=on_finished, on_wait=on_wait)
    with (
        open_store(kept_results(course) if submission is None else None) as store,
        open_lanes(to_run, plan.setup, slots, hidden=hidden, known=Known(plan.setup, store), watch=watch) as lanes,
    ):
        report = grade(lanes, store if saves else None)
        # Everything is printed before the lanes are closed: the reader need not wait for that.
        say(*summary_lines(report, width))
        details(*unchanged_lines(saved, width))
        if submission is None:
            details(*after_run(course, report, width))
    return report


def _check_rules(exercises: Sequence[Exercise], rules: Sequence[str]) -> None:
    """Refuse rules that the one exercise does not have.

    Raises:
        CourseError: the exercise has no such rule, or there is not exactly one exercise.
    """
    known = exercises[0].contract
    if rules and len(exercises) > 1:
        raise CourseError(f"{rules[0]} is a rule of some exercise; say of which one: grade EXERCISE {rules[0]}")
    unknown = [rule for rule in rules if rule not in known]
    if known and unknown:
        raise CourseError(f"{exercises[0].id} has no rule {unknown[0]}; its rules are {', '.join(known)}")


def exit_status(report: Report, *, passed: bool | None = None) -> int:
    """The exit status of a run; whether it passed may be decided by another policy than full marks."""
    if {row.verdict for graded in report.exercises for row in graded.checks} & {Verdict.BROKEN, Verdict.INCONCLUSIVE}:
        return UNDECIDED
    total = report.score
    if passed is None:
        passed = total.earned + total.undecided >= total.possible
    return 0 if passed else POINTS_LOST
