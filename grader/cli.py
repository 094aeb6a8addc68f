"""The commands. What a command needs is imported when it runs, so that `grade --help` is quick."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.errors import GraderError

if TYPE_CHECKING:
    from grader.model import Course, Exercise, Report

POINTS_LOST = 1
UNDECIDED = 3


class _DefaultCommand(click.Group):
    """A group in which anything that is no command is an exercise to grade."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the default command before arguments that name none."""
        if not args or (args[0] not in self.commands and args[0] not in ("--help", "-h", "--version")):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_DefaultCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tensorgrade", prog_name="grade")
def main() -> None:
    """Grade exercises about PyTorch tensors.

    \b
    grade                     grade the course in this folder
    grade predict_strides     grade one exercise, by id or number (02-1)
    grade --submission DIR    grade the files in another folder
    """  # noqa: D301  the backslash is click's own mark for lines that stay as they are
    _make_output_safe()


def _start_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--start", type=click.Choice(["fork", "spawn"]), help="How workers start; by default what this system allows."
    )(function)


def _confinement_option(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "--confinement",
        type=click.Choice(["none", "reduced", "full"]),
        default=default,
        show_default=True,
        help="The least level of confinement of student code; as much as this machine allows is used in any case.",
    )


def _device_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--device",
        type=click.Choice(["sim", "cuda"]),
        default="sim",
        show_default=True,
        help="What checks of devices run on: a simulated accelerator, or CUDA, slowly and without confinement.",
    )(function)


@main.command("run", hidden=True)
@click.argument("names", metavar="[EXERCISE]...", nargs=-1)
@click.option("--submission", type=click.Path(path_type=Path), help="A folder with the files to grade.")
@click.option("--json", "json_path", metavar="FILE", help="Write the report as JSON; - for standard output.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all random inputs.")
@_confinement_option("none")
@_device_option
@_start_option
def run(
    names: tuple[str, ...],
    submission: Path | None,
    json_path: str | None,
    seed: int,
    confinement: str,
    device: str,
    start: str | None,
) -> None:
    """Grade exercises, print what to mend, and say what to do next."""
    say = _Say(quiet=json_path == "-")
    say("Grading ...")
    with _told_errors():
        from grader.confine.levels import Level
        from grader.confinement import Wish
        from grader.grading import (
            default_start,
            environment,
            grade_exercise,
            is_untouched,
            not_started,
            open_lane,
            settle_exercise,
        )
        from grader.grading import report as make_report
        from grader.report.plain import to_plain, write_json
        from grader.report.terminal import exercise_lines, summary_lines
        from grader.submission import read_submission

        course, exercises = _course_and_exercises(names)
        folder = submission or course.root
        handed_in = read_submission(folder, exercises, author=folder.resolve().name)
        start = start or default_start(device)
        inputs = course.root / ".grade" / "inputs"
        to_run = [exercise for exercise in exercises if names or not is_untouched(exercise, handed_in)]
        graded = {}
        about = environment(seed, start, None, device)
        if to_run:
            with open_lane(to_run, start, Wish(Level.of(confinement), hidden=(folder,)), device) as lane:
                about = environment(seed, start, lane, device)
                for exercise in to_run:
                    graded[exercise.id] = grade_exercise(exercise, handed_in, lane, seed, inputs)
                    say(*exercise_lines(graded[exercise.id]), "")
                for exercise in to_run:  # checks of speed on which the machine was too busy; nothing else runs now
                    settled = settle_exercise(graded[exercise.id], handed_in, lane, seed, inputs)
                    if settled is not graded[exercise.id]:
                        graded[exercise.id] = settled
                        say("Checks of speed were repeated:", *exercise_lines(settled), "")
        rows = [graded.get(exercise.id) or not_started(exercise) for exercise in exercises]
        report = make_report(course, handed_in, rows, about)
        say(*summary_lines(report))
        if json_path == "-":
            import json

            click.echo(json.dumps(to_plain(report), indent=1))
        elif json_path:
            write_json(Path(json_path), report)
            say(f"The report is in {json_path}")
    sys.exit(_exit_status(report))


@main.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Where reports and the gradebook go.")
@click.option("--handin", help="Grade the exercises of this hand-in only.")
@click.option("--course", "course_folder", type=click.Path(path_type=Path), help="The course; by default this folder.")
@_confinement_option("full")
@_device_option
@_start_option
def batch(
    folder: Path,
    out: Path,
    handin: str | None,
    course_folder: Path | None,
    confinement: str,
    device: str,
    start: str | None,
) -> None:
    """Grade every submission in DIR, which has one folder for each author."""
    say = _Say()
    say("Grading ...")
    with _told_errors():
        from grader.batch import grade_batch
        from grader.confine.levels import Level
        from grader.confinement import Wish
        from grader.grading import default_start
        from grader.report.gradebook import author_line, gradebook_lines

        course, exercises = _course_and_exercises((), course_folder)
        exercises = _of_handin(course, exercises, handin)

        def on_report(report: Report, number: int, total: int) -> None:
            say(author_line(report, number, total))

        wish, start = Wish(Level.of(confinement)), start or default_start(device)
        reports = grade_batch(course, exercises, folder, out, start, wish, device, on_report)
        say("", *gradebook_lines(exercises, reports), f"Reports and gradebook.csv are in {out}")


@main.command()
@click.argument("names", metavar="[EXERCISE]...", nargs=-1)
@click.option("--seeds", type=click.IntRange(min=1), help="How many seeds right answers must pass with; by default 20.")
@click.option("--write-digests", is_flag=True, help="First bring the digests of starters in exercise.yaml up to date.")
@_device_option
@_start_option
def verify(names: tuple[str, ...], seeds: int | None, write_digests: bool, device: str, start: str | None) -> None:
    """Prove exercises: starters earn nothing, right answers pass, wrong ones are caught by the check they name."""
    say = _Say()
    say("Verifying ...")
    with _told_errors():
        from grader.course import write_digest
        from grader.grading import default_start
        from grader.verify.run import SEEDS
        from grader.verify.run import verify as prove
        from grader.verify.table import proof_lines

        course, exercises = _course_and_exercises(names)
        if write_digests:
            for exercise in exercises:
                if write_digest(exercise):
                    say(f"wrote the digest of {exercise.id}")
            course, exercises = _course_and_exercises(names)
        proofs = prove(course, exercises, start or default_start(device), seeds or SEEDS, say, device)
        say(*proof_lines(proofs))
    sys.exit(1 if any(proof.problems for proof in proofs) else 0)


@main.command()
@_start_option
def doctor(start: str | None) -> None:
    """Show what this machine can do, and what would make it do more."""
    say = _Say()
    say("Looking ...")
    with _told_errors():
        from grader.doctor import examine
        from grader.grading import default_start
        from grader.report.doctor import doctor_lines

        say(*doctor_lines(examine(start or default_start())))


@main.command()
@click.argument("name", metavar="MODULE/EXERCISE", required=False)
@click.option("--course", "course_folder", type=click.Path(path_type=Path), help="Start a course of your own there.")
@click.option("--schemas", type=click.Path(path_type=Path), help="Write JSON Schemas of the YAML files there.")
def new(name: str | None, course_folder: Path | None, schemas: Path | None) -> None:
    """Lay out an exercise, or a course, that lacks only what its author must write."""
    say = _Say()
    with _told_errors():
        from grader.author import new_course, new_exercise, write_schemas
        from grader.course import find_course
        from grader.errors import CourseError

        written = []
        if course_folder:
            written += new_course(course_folder)
        if schemas:
            written += write_schemas(schemas)
        if name:
            written += new_exercise(find_course((course_folder or Path.cwd()).resolve()), name)
        if not written:
            raise CourseError("say what to lay out: MODULE/EXERCISE, --course DIR or --schemas DIR")
        say(*(f"wrote {_from_here(path)}" for path in written))
        if name:
            say(f"Next: replace the example and what is marked TODO, then run  grade verify {name.split('/')[-1]}")


def _from_here(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


class _Say:
    """Prints lines at once, unless it is to be quiet."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet

    def __call__(self, *lines: str) -> None:
        if not self._quiet:
            for line in lines:
                click.echo(line)
            sys.stdout.flush()


def _course_and_exercises(names: Sequence[str], folder: Path | None = None) -> tuple[Course, list[Exercise]]:
    from grader.course import find_course, find_exercise, load_course

    course = load_course(find_course((folder or Path.cwd()).resolve()))
    return course, [find_exercise(course, name) for name in names] or list(course.exercises)


def _of_handin(course: Course, exercises: list[Exercise], name: str | None) -> list[Exercise]:
    from grader.errors import CourseError

    if name is None:
        return exercises
    for handin in course.handins:
        if handin.id == name:
            return [exercise for exercise in exercises if exercise.id in handin.exercises]
    known = ", ".join(handin.id for handin in course.handins) or "none"
    raise CourseError(f"there is no hand-in {name!r} in this course; known are {known}")


def _exit_status(report: Report) -> int:
    verdicts = {row.outcome.verdict.value for graded in report.exercises for row in graded.checks}
    if verdicts & {"broken", "inconclusive"}:
        return UNDECIDED
    total = report.score
    return POINTS_LOST if total.earned + total.undecided < total.possible else 0


@contextmanager
def _told_errors() -> Iterator[None]:
    """Tell an error of ours or of the course's as lines, without a traceback."""
    try:
        yield
    except GraderError as error:
        from grader.report.safe import for_terminal

        for line in str(error).split("\n"):
            click.echo(f"grade: {for_terminal(line)}", err=True)
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        click.echo("grade: interrupted", err=True)
        sys.exit(130)


def _make_output_safe() -> None:
    """A console that cannot show a character shows its code instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
