"""What students type besides `grade EXERCISE`: list, next, show, hint, reset, watch."""

from __future__ import annotations

import click

from grader.cli.courses import course_here
from grader.cli.options import (
    Workers,
    complete_exercises,
    complete_states,
    exercise_argument,
    json_option,
    next_argument,
    plain_option,
    seed_option,
    workers_options,
)
from grader.cli.printing import Say, drawing, print_json, terminal_width


@click.command("list")
@click.argument("names", metavar="[EXERCISE|MODULE]...", nargs=-1, shell_complete=complete_exercises)
@click.option("--topic", metavar="TOPIC", help="Those that teach a topic: its id, or words of its name.")
@click.option(
    "--state",
    "states",
    metavar="STATE",
    multiple=True,
    shell_complete=complete_states,
    help="Those not-started, started, done or known (the last one of their module is done).",
)
@json_option
def list_command(names: tuple[str, ...], topic: str | None, states: tuple[str, ...], as_json: bool) -> None:
    """List the exercises with states and points."""
    from grader.student.pages import list_data, list_lines
    from grader.student.progress import chosen, read_progress, rows_of

    course, say = course_here(), Say(quiet=as_json)
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
@click.argument("start", metavar="[EXERCISE|MODULE]", required=False, shell_complete=complete_exercises)
@click.option("-q", "--quiet", is_flag=True, help="Print the path of its file alone.")
@json_option
def next_command(start: str | None, quiet: bool, as_json: bool) -> None:
    """Say which exercise comes next, after the one in hand or from another on."""
    from grader.student.pages import list_data, next_lines, typed
    from grader.student.progress import next_row, read_progress, rows_of

    course, say = course_here(), Say(quiet=as_json)
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
@next_argument
@click.option("--reference", is_flag=True, help="The reference solution, and what it costs beside yours.")
@plain_option
@workers_options()
def show_command(name: str | None, reference: bool, plain: bool, workers: Workers) -> None:
    """Show the task of an exercise, by default of the next one."""
    from grader.student.pages import show_lines
    from grader.student.progress import exercise_in_hand, solved_reference

    course, say = course_here(), Say()
    exercise = exercise_in_hand(course, name)
    if not reference:
        say(*show_lines(course, exercise, terminal_width()))
        return
    from grader.student.compare import counted_lines, reference_lines

    say(*reference_lines(solved_reference(course, exercise)), "", "Counting ...")
    say(*counted_lines(course, exercise, workers.setup(), terminal_width(), drawing(plain=plain)))


@click.command("hint")
@next_argument
@click.option("--again", is_flag=True, help="Those that you have seen.")
@click.option("--all", "everything", is_flag=True, help="All of them.")
def hint_command(name: str | None, again: bool, everything: bool) -> None:
    """Show the next hint of an exercise. Hints cost nothing."""
    from grader.student.advice import hints
    from grader.student.progress import exercise_in_hand

    course = course_here()
    exercise = exercise_in_hand(course, name)
    Say()(*hints(course, exercise, terminal_width(), again=again, everything=everything))


@click.command("reset")
@exercise_argument
def reset_command(name: str) -> None:
    """Restore the starter of an exercise. The file that was there is kept."""
    from grader.course.names import one_exercise
    from grader.student.given import reset_lines

    course = course_here()
    Say()(*reset_lines(course, one_exercise(course, name), terminal_width()))


@click.command("watch")
@next_argument
@click.option("--poll", is_flag=True, help="Look for saved files again and again: for network drives.")
@seed_option
@plain_option
@workers_options(confinement="none")
def watch_command(name: str | None, poll: bool, seed: int | None, plain: bool, workers: Workers) -> None:
    """Grade an exercise again each time its file is saved: the one that is named, or the next."""
    say = Say()
    say("Watching; Ctrl-C ends.")
    from grader.student.progress import exercise_in_hand
    from grader.student.watch import Screen, Watch

    course = course_here()
    exercise = exercise_in_hand(course, name)
    screen = Screen(say, say.running, terminal_width, drawing(plain=plain))
    Watch(course, exercise, workers.setup(seed or 0), screen).run(poll=poll)
