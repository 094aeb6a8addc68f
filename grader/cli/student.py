"""What students type besides `grade EXERCISE` and the games: start, next, open, watch, try, hint, show, list, ..."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

from grader.cli import options
from grader.model.errors import CourseError
from grader.report.console import Say, drawing, print_json, terminal_width
from grader.report.safe import for_terminal

NOT_PACKED = 1


@click.command("start")
@click.argument("folder", metavar="DIR", type=options.PATH)
def start_command(folder: Path) -> None:
    """Copy the course into DIR, a new or empty folder."""
    from grader.course.layout import bundled_course
    from grader.student.folder import start

    say = Say()
    course = start(bundled_course(), folder)
    here = folder.resolve() == Path.cwd()
    shown = for_terminal(str(folder), one_line=True)
    place = "this folder" if here else shown
    say.prose(f"{len(course.exercises)} exercises are in {place}. To begin:")
    # Run by its path, out of an environment that is not active: the shell would not know the next command.
    if not shutil.which("grade") and os.name != "nt":
        say(f'  export PATH="{Path(sys.argv[0]).absolute().parent}:$PATH"')
    say(*(["  grade next", "  grade"] if here else [f"  cd {shlex.quote(shown)}", "  grade next"]))


@click.command("update")
def update_command() -> None:
    """Bring the course's corrections to your folder. What you changed stays as it is."""
    from grader.course.layout import bundled_course, find_given
    from grader.student.folder import update

    Say().prose(*update(bundled_course(), find_given(Path.cwd())))


@click.command("list")
@click.argument("names", metavar="[EXERCISE|MODULE]...", nargs=-1, shell_complete=options.complete_exercises)
@click.option("--topic", metavar="TOPIC", help="Only exercises that teach a topic: its id, or words of its name.")
@click.option(
    "--state",
    "states",
    metavar="STATE",
    type=click.Choice(["not-started", "started", "done", "known"]),
    multiple=True,
    help="Only exercises in a state; known means that you have solved the last one of the module.",
)
@options.json
def list_command(names: tuple[str, ...], topic: str | None, states: tuple[str, ...], as_json: bool) -> None:
    """List the exercises with states and points."""
    from grader.student.folder import read_progress
    from grader.student.pages import chosen, list_data, list_lines, rows_of

    course, say = options.course_here(), Say(quiet=as_json)
    progress = read_progress(course)
    rows = chosen(course, rows_of(course, progress), names, topic, states)
    if as_json:
        print_json(list_data(course, rows, progress))
    elif rows:
        say(*list_lines(course, rows, terminal_width()))
    else:
        say("No exercise matches.")
    say(*filter(None, [progress.problem]))


@click.command("next")
@click.argument("start", metavar="[EXERCISE|MODULE]", required=False, shell_complete=options.complete_exercises)
@options.json
def next_command(start: str | None, as_json: bool) -> None:
    """Show which exercise comes next, and where its file is. With a name: from that exercise or module on."""
    from grader.student.folder import read_progress
    from grader.student.pages import list_data, next_lines, next_row, rows_of

    course, say = options.course_here(), Say(quiet=as_json)
    progress = read_progress(course)
    row = next_row(course, rows_of(course, progress), progress, start)
    if as_json:
        print_json(list_data(course, [row] if row else [], progress))
    elif row is None:
        say("You have solved all exercises, or the last one of their module:  grade list")
    else:
        say(*next_lines(row, terminal_width()))


@click.command("show")
@options.next_exercise
@click.option(
    "--reference", is_flag=True, help="Show the right solutions, and compare their costs with those of your answer."
)
@options.plain
@options.workers()
def show_command(name: str | None, reference: bool, plain: bool, workers: options.Workers) -> None:
    """Show the task of an exercise, by default of the next one."""
    from grader.student.pages import show_lines, solved_reference

    say, (course, exercise) = Say(), options.exercise_here(name)
    if not reference:
        say(*show_lines(exercise, terminal_width(), drawing(plain=plain)))
        return
    from grader.student.advice import counted_lines, solution_lines

    solved_reference(course, exercise)
    say(*solution_lines(exercise), "")
    say.meanwhile("Counting ...")
    say(*counted_lines(course, exercise, workers.setup(), terminal_width()))


@click.command("open")
@options.next_exercise
def open_command(name: str | None) -> None:
    """Open an exercise in your editor, by default the next one. VISUAL or EDITOR is the editor's command."""
    from grader.student.folder import typed

    _, exercise = options.exercise_here(name)
    if not (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        setting = "set EDITOR=notepad" if os.name == "nt" else 'export EDITOR="code --wait"'
        raise CourseError(
            f"to open {typed(exercise.starter)}, first set EDITOR or VISUAL to the command of your editor, as in",
            f"  {setting}",
        )
    click.edit(filename=str(exercise.starter))


@click.command("try")
@options.next_exercise
@options.workers()
def try_command(name: str | None, workers: options.Workers) -> None:
    """Run the lines that a failing check gives you to try."""
    say = Say()
    from grader.report.terminal import story_lines
    from grader.student.folder import typed
    from grader.student.own import run, try_of

    course, exercise = options.exercise_here(name)
    row, lines = try_of(course, exercise, workers.setup(), say.running)
    say.prose(f"{exercise.number} {exercise.title}. {row.check.contract} {row.check.title}:")
    say(*story_lines(row, terminal_width()), "")
    say.prose(f"In the folder {typed(exercise.starter.parent)}:")
    say(*(f"    {for_terminal(line)}" for line in lines), "Output:")
    run(exercise, lines)


@click.command("hint")
@options.next_exercise
@click.option("--all", "everything", is_flag=True, help="Show all hints.")
def hint_command(name: str | None, everything: bool) -> None:
    """Show the next of three hints; hints cost no points."""
    from grader.student.advice import hints

    course, exercise = options.exercise_here(name)
    Say()(*hints(course, exercise, terminal_width(), everything=everything))


@click.command("reset")
@options.exercise
def reset_command(name: str) -> None:
    """Restore the starter; your file stays beside it."""
    from grader.student.folder import reset

    Say().prose(*reset(*options.exercise_here(name)))


@click.command("watch")
@options.next_exercise
@click.option("--poll", is_flag=True, help="Look for changed files again and again, for network drives.")
@options.plain
@options.workers("none")
def watch_command(name: str | None, poll: bool, plain: bool, workers: options.Workers) -> None:
    """Grade an exercise each time you save its file. Without a name: the next exercise."""
    say = Say()
    say.meanwhile("Watching ...")
    from grader.student.watch import Watch

    course, exercise = options.exercise_here(name)
    say("Watching; Ctrl-C ends.")
    Watch(course, exercise, workers.setup(), say, drawing(plain=plain)).run(poll=poll)


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
    from grader.student.pack import pack, the_handin

    course = options.course_here()
    chosen = the_handin(course) if handin is None else options.handin_of(course, handin)
    receipt = pack(course, chosen, workers.setup(), out, details.running)
    details()  # erases the line that showed what was running
    if receipt.problems and not force:
        given = [*(["--handin", handin] if handin else []), *(["--out", str(out)] if out != Path() else [])]
        say(*receipt.problems, "", "Nothing was packed. Fix this, or pack the files as they are:")
        say(f"  {shlex.join(['grade', 'pack', *given, '--force'])}")
        sys.exit(NOT_PACKED)
    path = receipt.write(out)
    details(receipt.text(), f"The receipt is in {path}")
    say(str(out / receipt.name) if quiet else f"Hand in  {out / receipt.name}")
