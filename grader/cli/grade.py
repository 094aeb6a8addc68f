"""What `grade [EXERCISE…]` does; its options are in `run`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import options
from grader.cli.exit_status import UNDECIDED, exit_status
from grader.model import Exercise, GradedExercise, Report, Submission
from grader.model.errors import CourseError
from grader.model.files import write_named
from grader.report.console import Say, shows_colours, terminal_width
from grader.report.terminal import exercise_lines, summary_lines
from grader.runner.hand_over import start_ready_process

if TYPE_CHECKING:
    from grader.grading.plan import RunPlan
    from grader.grading.runtime import Runtime
    from grader.model import Report
    from grader.model.messages import Setup
    from grader.report.schema import ReportFile
    from grader.runner.early import EarlyProcesses


def grade_here(
    *,
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
    early: EarlyProcesses | None,
) -> None:
    """Grade exercises, print and write the reports, and end with the exit status.

    Args:
        names: the names of exercises; none for all.
        submission: a folder, an archive or a file; None for the course's own folder.
        json_path: the path of the report as JSON; `-` is standard output.
        html_path: the path of the report as a page.
        staff: True if the reports have what only staff may read.
        seed: the seed of the inputs; None for the author's own.
        like: the report whose run is repeated: its seed, start and author.
        stops: True if everything after the first check that loses points is left out.
        fresh: True if unchanged exercises are graded again.
        quiet: True if only the table and the total are printed.
        verbose: True if checks that passed are printed, too.
        plain: True if pictures are written as sentences.
        workers: the options of how workers are started.
        early: processes that were started already, if any.
    """
    say, details = Say(quiet=json_path == "-"), Say(quiet=quiet or json_path == "-")
    details.meanwhile("Grading ...")
    # It reads our own messages. Finding plugins for it takes a student's time, and check processes have none either.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    earlier = None
    from grader.model.messages import Start

    setup = workers.setup(seed or 0)
    if like is not None:
        from grader.report.repeat import read_like

        earlier, same = read_like(Path(like))
        is_spawned = earlier.environment.get("start") == Start.SPAWN.value and workers.start is None
        setup = replace(setup, seed=same, start=Start.SPAWN if is_spawned else setup.start)
    plan, handed_in = _plan_and_submission(
        names, submission, setup, earlier, seeded=seed is not None or like is not None
    )
    # In a report for programs each check has a row; a student reads one sentence, and at once.
    plan = replace(plan, stops=stops, compiles=json_path is None)
    saves = not (stops or json_path or like or submission or plan.rules)
    lines = partial(exercise_lines, width=terminal_width(), every=verbose, plain=plain, colours=shows_colours())
    shown = lines if not plan.rules else lambda graded: lines(graded) if graded.checks else iter(())
    report = _grade(plan, handed_in, submission, (say, details), shown, early, saves=saves, fresh=fresh)
    if earlier is not None:
        from grader.report.repeat import differences

        say.prose(*differences(earlier, report))
    if plan.rules:
        details.prose(*_only_hidden_note(plan.rules, report))
    if json_path:
        from grader.report.schema import report_json

        write_named(json_path, report_json(report, staff=staff), "--json")
        say(f"The report is in {json_path}")
    if html_path:
        from grader.report.html import page

        write_named(html_path, page(report), "--html")
        say(f"The report for a browser is in {html_path}")
    if submission is None and workers.forks:
        start_ready_process()
    sys.exit(UNDECIDED if options.broken_of(plan.course, names) else exit_status(report))


def _plan_and_submission(
    words: tuple[str, ...], path: Path | None, setup: Setup, earlier: ReportFile | None, *, seeded: bool
) -> tuple[RunPlan, Submission]:
    """Return the run plan, and the submission that is graded.

    Args:
        words: the names of exercises and rules, as the user typed them.
        path: the path of what is graded; None for the course's own folder.
        setup: the setup of the run.
        earlier: the report whose exercises and author are graded again, or None.
        seeded: True if the user named a seed, or a report that has one.
    """
    from grader.course.layout import is_student_folder
    from grader.course.load import split_exercises_and_rules
    from grader.grading.plan import RunPlan
    from grader.grading.secret import read_secret
    from grader.intake.collect import collect_one, read_submission

    names, rules = split_exercises_and_rules(words)
    # What is read of the course besides, a student waits for.
    course, exercises = options.course_and_exercises(names, only_named=path is None)
    _check_rules(exercises, rules)
    if earlier is not None:
        from grader.report.repeat import exercises_like

        exercises = exercises_like(earlier, exercises)
    place = (path or course.root).resolve()
    author = earlier.author if earlier else place.stem if place.is_file() else place.name
    if path is None:
        submission = read_submission(course.root, exercises, author)
    else:
        submission = collect_one(path, course.exercises, exercises, author)
        # Hidden checks on files of somebody else: inputs must not be computable. A student's own folder keeps its seed.
        if not seeded and not is_student_folder(course.root) and any(exercise.hidden_checks for exercise in exercises):
            setup = replace(setup, secret=read_secret(None))
    # A module stands for the exercises of it that were begun; an exercise that is named itself is run in any case.
    are_named = bool(names) and len(exercises) <= len(names)
    return RunPlan(course, exercises, setup, runs_untouched=are_named, has_folder=True, rules=rules), submission


def _grade(
    plan: RunPlan,
    submission: Submission,
    path: Path | None,
    says: tuple[Say, Say],
    shown: Callable[[GradedExercise], Iterator[str]],
    early: EarlyProcesses | None,
    *,
    saves: bool,
    fresh: bool,
) -> Report:
    """Grade a submission, print the result, and return the report.

    Args:
        plan: the run plan.
        submission: the submission.
        path: the path that it was read from; None for the course's own folder.
        says: two printers: one for the summary, one for all else.
        shown: a function that returns the lines that are printed of an exercise.
        early: processes that were started already, if any.
        saves: True if results are saved for later runs, and saved ones are used.
        fresh: True if unchanged exercises are graded again.
    """
    from grader.course.layout import results_path
    from grader.course.load import read_module
    from grader.grading.diagnosis import KnownMistakes
    from grader.grading.lanes import lanes_for
    from grader.grading.runtime import Runtime
    from grader.grading.schedule import grade_submission
    from grader.grading.store import open_store
    from grader.report.progress_lines import SubmissionProgress
    from grader.runner.compiled import is_compiled
    from grader.student.advice import advice_after_run, unchanged_lines
    from grader.student.folder import must_keep_starters

    course, width = plan.course, terminal_width()
    say, details = says
    details.prose(*(f"{id}: {'; '.join(own.notes)}" for id, own in submission.exercises.items() if own.notes))

    if not is_compiled():
        details.meanwhile("Compiling PyTorch, once ...")

    slots, to_run, hidden = lanes_for(plan, submission), plan.to_run(submission), (path or course.root,)
    progress = SubmissionProgress(details, shown, len(plan.exercises), slots)
    processes = Runtime.processes
    if early is not None:
        zygote, source = partial(early.take_zygote, processes.zygote), partial(early.take_server, processes.source)
        processes = replace(processes, zygote=zygote, source=source)
    with (
        open_store(results_path(course) if path is None else None) as store,
        Runtime(
            *(to_run, plan.setup, slots),
            hidden=hidden,
            known=KnownMistakes(plan.setup, store),
            progress=progress,
            warm=path is None,
            processes=processes,
        ) as runtime,
    ):
        report = grade_submission(plan, submission, runtime, store if saves else None, fresh=fresh)
        with _close_while_printing(runtime):
            if plan.rules and not any(graded.checks for graded in report.exercises):
                return report  # a table of 0 of 0 points would say nothing; `_only_hidden_note` says why
            say(*summary_lines(report, width))
            details(*unchanged_lines(progress.saved, width))
            if path is None:
                known = course
                if must_keep_starters(course):
                    # What is wrong with exercises that were not meant is for the command that lists them.
                    known, _ = options.course_and_exercises((), prints_broken=False)
                # Most often the next exercise is in the same module, and no other one is read.
                details(*advice_after_run(known, report, width, partial(read_module, course)))
    return report


@contextmanager
def _close_while_printing(runtime: Runtime) -> Iterator[None]:
    """End the processes of a run while the `with` block prints the report.

    The end of the processes takes about as long as the block.
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, "grade-close") as threads:
        closed = threads.submit(runtime.close)
        yield
    closed.result()


def _only_hidden_note(rules: Collection[str], report: Report) -> Iterator[str]:
    """Yield a sentence if the rules that were named have only hidden checks.

    An example is "C4 has only hidden checks: their messages do not show their inputs."
    """
    rows = [row for graded in report.exercises for row in graded.checks]
    named = f"{' and '.join(sorted(rules))} {'has' if len(rules) == 1 else 'have'} only hidden checks"
    if not rows and any(graded.exercise.withheld.checks for graded in report.exercises):
        yield f"{named}, which are not in this copy of the course: they run at hand-in."
    elif rows and not any(row.check.shown for row in rows):
        yield f"{named}: their messages do not show their inputs."


def _check_rules(exercises: Sequence[Exercise], rules: Sequence[str]) -> None:
    """Raise an error unless all rules belong to the one exercise that was named.

    A rule is a numbered sentence of a task, such as `C4` in `grade masks C4`.

    Raises:
        CourseError: the exercise has rules, but not this one; or rules were named together with several exercises.
    """
    known = exercises[0].contract
    if rules and len(exercises) > 1:
        raise CourseError(f"{rules[0]} is the name of a rule; say of which exercise:  grade EXERCISE {rules[0]}")
    unknown = [rule for rule in rules if rule not in known]
    if known and unknown:
        raise CourseError(f"{exercises[0].id} has no rule {unknown[0]}; its rules are {', '.join(known)}")
