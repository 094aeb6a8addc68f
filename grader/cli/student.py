"""What students type besides `grade EXERCISE`: start, next, open, watch, try, hint, show, list, pack and others."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

from grader.cli import options
from grader.model.errors import CourseError
from grader.report.console import Say, print_json, shows_colours, terminal_width
from grader.report.safe import for_terminal

NOT_PACKED = 1


@click.command("start")
@click.argument("words", metavar="DIR", nargs=-1, required=True)
def start_command(words: tuple[str, ...]) -> None:
    """Copy the course into DIR, a new or empty folder."""
    if len(words) > 1:
        meant = shlex.quote(" ".join(words))
        raise click.UsageError(f"give one folder; put a name with blanks in quotes: grade start {meant}")
    from grader.course.layout import bundled_course
    from grader.runner.compiled import compile_once, is_compiled
    from grader.student.folder import start

    folder, say = Path(words[0]), Say()
    course = start(bundled_course(), folder)
    here = folder.resolve() == Path.cwd()
    shown = for_terminal(str(folder), one_line=True)
    if not is_compiled():
        say("Compiling PyTorch, once: this takes some seconds, and saves them at each later run.")
        compile_once()
    place = "this folder" if here else shown
    say.prose(f"{len(course.exercises)} exercises are in {place}. To begin:")
    # Run by its path, out of an environment that is not active: the shell would not know the next command.
    if not shutil.which("grade"):
        own = Path(sys.argv[0]).absolute()
        commands = (own if own.stem == "grade" else Path(sys.executable)).parent
        windows = f"  (grade is in {commands}: put that on your PATH first)"
        say(windows if os.name == "nt" else f'  export PATH="{commands}:$PATH"')
    say(*(["  grade next", "  grade"] if here else [f"  cd {shlex.quote(shown)}", "  grade next"]))
    say("Or in a browser:  grade web")


@click.command("update")
def update_command() -> None:
    """Bring the course's corrections to your folder. What you changed stays as it is."""
    from grader.course.layout import bundled_course, student_folder_or_start
    from grader.student.folder import update

    Say().prose(*update(bundled_course(), student_folder_or_start(Path.cwd())))


@click.command("list")
@click.argument("names", metavar="[EXERCISE|MODULE]...", nargs=-1, shell_complete=options.complete_exercises)
@click.option("--topic", metavar="TOPIC", help="Only exercises that teach a topic: its id, or words of its name.")
@click.option(
    "--state",
    "states",
    metavar="STATE",
    type=click.Choice(["not-started", "started", "shown-pass", "done", "known"]),
    multiple=True,
    help="Only exercises in this state. known: skipped, as the module's last exercise is solved; shown-pass: all shown "
    "checks pass, and hidden checks decide.",
)
@options.json
def list_command(names: tuple[str, ...], topic: str | None, states: tuple[str, ...], as_json: bool) -> None:
    """List the exercises with states and points."""
    from grader.student.folder import read_progress
    from grader.student.list_page import list_data, list_lines
    from grader.student.rows import filter_rows, rows_of

    course, say = options.course_here(), Say(quiet=as_json)
    progress = read_progress(course)
    rows = filter_rows(course, rows_of(course, progress), names, topic, states)
    if as_json:
        print_json(list_data(course, rows))
    elif rows:
        say(*list_lines(course, rows, terminal_width()))
    else:
        say("No exercise matches.")
    say(*filter(None, [progress.problem]))


@click.command("next")
@click.argument("start", metavar="[EXERCISE|MODULE]", required=False, shell_complete=options.complete_exercises)
@click.option("-q", "--quiet", is_flag=True, help="Print only the path of its file.")
@options.json
def next_command(start: str | None, quiet: bool, as_json: bool) -> None:
    """Show which exercise comes next, and where its file is. With a name, begin at that exercise or module."""
    from grader.student.folder import typed_path
    from grader.student.list_page import list_data, next_exercise_lines
    from grader.student.rows import next_row

    course, say = options.course_here(), Say(quiet=as_json)
    row = next_row(course, start)
    if as_json:
        print_json(list_data(course, [row] if row else []))
    elif row is None:
        solved = "You have solved each exercise, or skipped it by solving the last one of its module."
        say("" if quiet else f"{solved} To see which:  grade list")
    elif quiet:
        say(typed_path(row.exercise.starter))
    else:
        say(*next_exercise_lines(row, terminal_width()))


@click.command("show")
@options.next_exercise
@click.option("--rules", is_flag=True, help="Show also what broken rules cost, and the checks that you can read.")
@click.option(
    "--reference", is_flag=True, help="Show the right solutions, and compare their costs with those of your answer."
)
@options.plain
@options.workers()
def show_command(name: str | None, rules: bool, reference: bool, plain: bool, workers: options.Workers) -> None:
    """Show the task of an exercise, by default of the next one."""
    from grader.student.rows import solved_reference
    from grader.student.task_page import show_lines

    say, (course, exercise) = Say(), options.exercise_here(name)
    if not reference:
        say(*show_lines(exercise, terminal_width(), rules=rules, plain=plain))
        return
    from grader.student.counted import counted_lines
    from grader.student.task_page import solution_lines

    solved_reference(course, exercise)
    say(*solution_lines(exercise, colours=shows_colours()), "")
    say.meanwhile("Counting ...")
    say(*counted_lines(course, exercise, workers.setup(), terminal_width()))


@click.command("open")
@options.next_exercise
def open_command(name: str | None) -> None:
    """Open an exercise in your editor, by default the next one. VISUAL or EDITOR is the editor's command."""
    from grader.student.folder import typed_path

    _, exercise = options.exercise_here(name)
    if not (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        setting = "set EDITOR=notepad" if os.name == "nt" else 'export EDITOR="code --wait"'
        raise CourseError(
            f"to open {typed_path(exercise.starter)}, first set EDITOR or VISUAL to the command of your editor, as in",
            f"  {setting}",
        )
    try:
        click.edit(filename=str(exercise.starter))
    except click.ClickException as error:
        raise CourseError(f"the editor did not start or failed ({error.message}); correct VISUAL or EDITOR") from None


@click.command("try")
@options.next_exercise
@options.seed
@options.workers()
def try_command(name: str | None, seed: int | None, workers: options.Workers) -> None:
    """Run the lines that a failing check gives you to try."""
    say = Say()
    from grader.report.progress_lines import ProgressLine
    from grader.report.terminal import failure_lines
    from grader.student.folder import typed_path
    from grader.student.lines_to_try import run_lines_to_try

    course, exercise = options.exercise_here(name)
    row, lines, printed = run_lines_to_try(course, exercise, workers.setup(seed or 0), ProgressLine(say))
    say.prose(f"{exercise.number} {exercise.title}. {row.check.contract} {row.check.title}:")
    say(*failure_lines(row, terminal_width()), "")
    say.prose(f"In the folder {typed_path(exercise.starter.parent)}:")
    say(*(f"    {for_terminal(line)}" for line in lines), "Output:")
    say(*for_terminal(printed.rstrip("\n")).split("\n"))


@click.command("hint")
@options.next_exercise
@click.option("--again", is_flag=True, help="Show the hints that you have seen.")
@click.option("--all", "everything", is_flag=True, help="Show all hints.")
def hint_command(name: str | None, again: bool, everything: bool) -> None:
    """Show the next of three hints; hints cost no points."""
    from grader.student.hints import hint_lines

    course, exercise = options.exercise_here(name)
    Say()(*hint_lines(course, exercise, terminal_width(), again=again, everything=everything))


@click.command("reset")
@options.exercise
def reset_command(name: str) -> None:
    """Restore the starter; your file stays beside it."""
    from grader.student.folder import restore_starter

    Say().prose(*restore_starter(*options.exercise_here(name)))


@click.command("watch")
@options.next_exercise
@click.option("--poll", is_flag=True, help="Look for changed files again and again, for network drives.")
@options.seed
@options.plain
@options.workers("none")
def watch_command(name: str | None, poll: bool, seed: int | None, plain: bool, workers: options.Workers) -> None:
    """Grade an exercise each time you save its file. Without a name: the next exercise."""
    say = Say()
    say.meanwhile("Watching ...")
    from grader.student.watch import Watch

    course, exercise = options.exercise_here(name)
    say("Watching; Ctrl-C ends.")
    Watch(course, exercise, workers.setup(seed or 0), say, plain=plain).run(poll=poll)


@click.command("stop")
def stop_command() -> None:
    """Stop the background processes that make the next command faster."""
    from grader.runner.warm import stop_all, why_not_warm

    try:
        count = stop_all()
    except OSError as error:
        raise CourseError(f"the background processes could not be stopped: {error}") from None
    if count:
        Say().prose("The background processes were stopped. The next command starts new ones, which takes longer once.")
    else:
        Say().prose(f"There are no background processes{': ' if why_not_warm() else ''}{why_not_warm()}.")


@click.command("pack")
@click.option("--handin", metavar="HANDIN", help="Which hand-in; needed only if the course has several.")
@click.option("--out", default=".", type=options.PATH, help="The folder for the zip; by default this one.")
@click.option("--force", is_flag=True, help="Pack also if a file is missing or does not load.")
@click.option("-q", "--quiet", is_flag=True, help="Print only where the zip is, and what is wrong.")
@options.workers("none")
def pack_command(handin: str | None, out: Path, force: bool, quiet: bool, workers: options.Workers) -> None:
    """Pack a hand-in into one zip, and print a receipt."""
    say, details = Say(), Say(quiet=quiet)
    details.meanwhile("Packing ...")
    from grader.report.progress_lines import ProgressLine
    from grader.student.pack import only_handin, pack

    course = options.course_here()
    chosen = only_handin(course) if handin is None else options.handin_of(course, handin)
    receipt = pack(course, chosen, workers.setup(), out, ProgressLine(details))
    details()  # erases the line that showed what was running
    say(*receipt.problems)
    if receipt.problems and not force:
        given = [*(["--handin", handin] if handin else []), *(["--out", str(out)] if out != Path() else [])]
        say("", "Nothing was packed. Fix this, or pack the files as they are:")
        say(f"  {shlex.join(['grade', 'pack', *given, '--force'])}")
        sys.exit(NOT_PACKED)
    path = receipt.write(out)
    details(*receipt.lines(), f"The receipt is in {path}")
    say(str(out / receipt.name) if quiet else f"Hand in  {out / receipt.name}")
