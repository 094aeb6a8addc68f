"""What students type besides `grade EXERCISE` and the games: start, list, next, show, hint, reset, watch and pack."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

from grader.cli import options
from grader.cli.printing import Say, drawing, print_json, terminal_width

NOT_PACKED = 1


@click.command("start")
@click.argument("words", metavar="DIR", nargs=-1, required=True)
def start_command(words: tuple[str, ...]) -> None:
    """Lay the course out in DIR, which must be new or empty."""
    if len(words) > 1:
        meant = shlex.quote(" ".join(words))
        raise click.UsageError(f"give one folder; put a name with blanks in quotes: grade start {meant}")
    from grader.course.layout import bundled_course
    from grader.report.safe import for_terminal
    from grader.student.given import start

    folder, say = Path(words[0]), Say()
    course = start(bundled_course(), folder)
    here = folder.resolve() == Path.cwd()
    shown = for_terminal(str(folder), one_line=True)
    place = "this folder" if here else shown
    say.prose(f"{len(course.exercises)} exercises are in {place}. Two commands to begin with:")
    # Run by its path, out of an environment that is not active: the shell would not know the next command.
    if not shutil.which("grade"):
        own = Path(sys.argv[0]).absolute()
        commands = (own if own.stem == "grade" else Path(sys.executable)).parent
        windows = f"  (grade is in {commands}: put that on your PATH first)"
        say(windows if os.name == "nt" else f'  export PATH="{commands}:$PATH"')
    say(*(["  grade next", "  grade"] if here else [f"  cd {shlex.quote(shown)}", "  grade next"]))


@click.command("update")
def update_command() -> None:
    """Bring corrected exercises to a folder that `grade start` made. What you changed stays as it is."""
    from grader.course.layout import bundled_course, find_given
    from grader.student.given import update, update_sentences

    Say().prose(*update_sentences(update(bundled_course(), find_given(Path.cwd()))))


@click.command("list")
@click.argument("names", metavar="[EXERCISE|MODULE]...", nargs=-1, shell_complete=options.complete_exercises)
@click.option("--topic", metavar="TOPIC", help="Those that teach a topic: its id, or words of its name.")
@click.option(
    "--state",
    "states",
    metavar="STATE",
    type=click.Choice(["not-started", "started", "done", "known"]),
    multiple=True,
    help="Those not-started, started, done or known (the last one of their module is done).",
)
@options.json
def list_command(names: tuple[str, ...], topic: str | None, states: tuple[str, ...], as_json: bool) -> None:
    """List the exercises with states and points."""
    from grader.student.pages import list_data, list_lines
    from grader.student.progress import chosen, read_progress, rows_of

    course, say = options.course_here(), Say(quiet=as_json)
    progress = read_progress(course)
    rows = chosen(course, rows_of(course, progress), names, topic, states)
    if as_json:
        print_json(list_data(course, rows, progress))
    elif rows:
        say(*list_lines(course, rows, terminal_width()))
    else:
        say("No exercise is like that.")
    say(*filter(None, [progress.problem]))


@click.command("next")
@click.argument("start", metavar="[EXERCISE|MODULE]", required=False, shell_complete=options.complete_exercises)
@click.option("-q", "--quiet", is_flag=True, help="Print the path of its file alone.")
@options.json
def next_command(start: str | None, quiet: bool, as_json: bool) -> None:
    """Say which exercise comes next, after the one in hand or from another on."""
    from grader.student.pages import list_data, next_lines, typed
    from grader.student.progress import next_row, read_progress, rows_of

    course, say = options.course_here(), Say(quiet=as_json)
    progress = read_progress(course)
    row = next_row(course, rows_of(course, progress), progress, start)
    if as_json:
        print_json(list_data(course, [row] if row else [], progress))
    elif row is None:
        say("" if quiet else "All exercises are solved, or known by the last one of their module: grade list")
    elif quiet:
        say(typed(row.exercise.starter))
    else:
        say(*next_lines(row, terminal_width()))


@click.command("show")
@options.next_exercise
@click.option("--reference", is_flag=True, help="The reference solution, and what it costs beside yours.")
@options.plain
@options.workers()
def show_command(name: str | None, reference: bool, plain: bool, workers: options.Workers) -> None:
    """Show the task of an exercise, by default of the next one."""
    from grader.student.pages import show_lines
    from grader.student.progress import exercise_in_hand, solved_reference

    course, say = options.course_here(), Say()
    exercise = exercise_in_hand(course, name)
    if not reference:
        say(*show_lines(course, exercise, terminal_width()))
        return
    from grader.student.advice import counted_lines, reference_lines

    say(*reference_lines(solved_reference(course, exercise)), "", "Counting ...")
    say(*counted_lines(course, exercise, workers.setup(), terminal_width(), drawing(plain=plain)))


@click.command("hint")
@options.next_exercise
@click.option("--again", is_flag=True, help="Those that you have seen.")
@click.option("--all", "everything", is_flag=True, help="All of them.")
def hint_command(name: str | None, again: bool, everything: bool) -> None:
    """Show the next hint of an exercise. Hints cost nothing."""
    from grader.student.advice import hints
    from grader.student.progress import exercise_in_hand

    course = options.course_here()
    exercise = exercise_in_hand(course, name)
    Say()(*hints(course, exercise, terminal_width(), again=again, everything=everything))


@click.command("reset")
@options.exercise
def reset_command(name: str) -> None:
    """Restore the starter of an exercise. The file that was there is saved beside it."""
    from grader.student.given import reset_sentences

    Say().prose(*reset_sentences(*options.exercise_here(name)))


@click.command("watch")
@options.next_exercise
@click.option("--poll", is_flag=True, help="Look for saved files again and again: for network drives.")
@options.seed
@options.plain
@options.workers("none")
def watch_command(name: str | None, poll: bool, seed: int | None, plain: bool, workers: options.Workers) -> None:
    """Grade an exercise again each time its file is saved: the one that is named, or the next."""
    say = Say()
    say("Watching; Ctrl-C ends.")
    from grader.student.progress import exercise_in_hand
    from grader.student.watch import Screen, Watch

    course = options.course_here()
    exercise = exercise_in_hand(course, name)
    screen = Screen(say, say.running, terminal_width, drawing(plain=plain))
    Watch(course, exercise, workers.setup(seed or 0), screen).run(poll=poll)


@click.command("pack")
@click.option("--handin", metavar="HANDIN", help="Which hand-in; may be left out where the course has one.")
@click.option("--out", default=".", type=click.Path(path_type=Path), help="Where the zip goes; by default this folder.")
@click.option("--force", is_flag=True, help="Pack what there is, also if something is missing or does not load.")
@click.option("-q", "--quiet", is_flag=True, help="Print only where the zip is, and what is wrong.")
@options.workers("none")
def pack_command(handin: str | None, out: Path, force: bool, quiet: bool, workers: options.Workers) -> None:
    """Pack the files of a hand-in into one zip, and print a receipt."""
    say, details = Say(), Say(quiet=quiet)
    details("Packing ...")
    from grader.student.pack import pack, the_handin

    course = options.course_here()
    chosen = the_handin(course) if handin is None else options.handin_of(course, handin)
    receipt = pack(course, chosen, workers.setup(), out, details.running)
    details()  # erases the line that showed what was running
    say(*receipt.problems)
    if receipt.problems and not force:
        say("", "Nothing was packed. Fix this, or pack what there is:", "  grade pack --force")
        sys.exit(NOT_PACKED)
    path = receipt.write(out)
    details(*receipt.lines(), f"The receipt is in {path}")
    say(str(out / receipt.name) if quiet else f"Hand in  {out / receipt.name}")
