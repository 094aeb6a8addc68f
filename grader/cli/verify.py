"""`grade verify [EXERCISE…]`: prove exercises."""

from __future__ import annotations

import sys

import click

from grader.cli.courses import broken_of, course_and_exercises, course_here
from grader.cli.options import Workers, json_option, lanes_option, workers_options
from grader.cli.printing import Pace, Say, print_json


@click.command("verify")
@click.argument("names", metavar="[EXERCISE]...", nargs=-1)
@click.option("--seeds", type=click.IntRange(min=1), help="How many seeds right answers must pass with; by default 20.")
@click.option("--write-digests", is_flag=True, help="First bring the digests of starters in exercise.yaml up to date.")
@click.option("--losses", is_flag=True, help="Also show what each wrong answer loses, and on which rules.")
@click.option("--coverage", is_flag=True, help="Show which topic is taught where, and run nothing.")
@click.option("--watch", is_flag=True, help="Stay, and verify an exercise again when a file of it is saved; 2 seeds.")
@click.option("--poll", is_flag=True, help="With --watch: look for saved files again and again, for network drives.")
@click.option("--fresh", is_flag=True, help="Run also what has not changed since the last run; --json does so, too.")
@click.option("-q", "--quiet", is_flag=True, help="Only the table and what is wrong.")
@json_option
@lanes_option
@workers_options()
def verify_command(
    names: tuple[str, ...],
    seeds: int | None,
    write_digests: bool,
    losses: bool,
    coverage: bool,
    watch: bool,
    poll: bool,
    fresh: bool,
    quiet: bool,
    as_json: bool,
    lanes: int | None,
    workers: Workers,
) -> None:
    """Prove exercises: starters earn nothing, right answers pass, wrong ones are caught by the check they name."""
    if coverage:
        _show_coverage()
        return
    say, details = Say(quiet=as_json), Say(quiet=quiet or as_json)
    details("Watching; Ctrl-C ends." if watch else "Verifying ...")
    from grader.author.cases import SEEDS
    from grader.author.table import loss_lines, proof_data, proof_lines
    from grader.author.verify import verify
    from grader.course.layout import kept_results, refuse_given
    from grader.course.starter import write_digest
    from grader.grading.store import open_store

    course, exercises = course_and_exercises(names, prints=False)
    refuse_given(course.root, "verify")
    if write_digests:
        say(*(f"wrote the digest of {exercise.id}" for exercise in exercises if write_digest(exercise)))
        course, exercises = course_and_exercises(names, prints=False)
    setup = workers.setup()
    broken = [problem for item in broken_of(course, names) for problem in item.problems]
    if not names:
        broken += [problem for item in course.broken if not item.module for problem in item.problems]
    with open_store(kept_results(course)) as store:
        for exercise in exercises if fresh or as_json else ():
            store.forget(exercise.id, store.keys.judge(exercise))
        if watch:
            from grader.author.watch import SEEDS as FEW
            from grader.author.watch import Watch

            named = [exercise.id for exercise in exercises] if names else []
            Watch(course, named, setup, seeds or FEW, say, store).run(poll=poll)
        ran = Pace(details)
        proofs = verify(course, exercises, setup, store, seeds or SEEDS, details, slots=lanes, ran=ran)
    details()  # erases the line that showed the pace
    if losses:
        say("", *loss_lines(proofs), "")
    say(*proof_lines(proofs, broken))
    if as_json:
        print_json(proof_data(proofs, broken))
    sys.exit(1 if broken or any(proof.problems for proof in proofs) else 0)


def _show_coverage() -> None:
    from grader.author.table import coverage_lines
    from grader.author.text import unknown_topics
    from grader.course.topics import Coverage

    say, coverage = Say(), Coverage.of(course_here())
    say(*coverage_lines(coverage))
    if problems := unknown_topics(coverage):
        say("", *problems)
        sys.exit(1)
