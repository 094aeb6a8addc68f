"""`grade verify [EXERCISE…]`: prove exercises."""

from __future__ import annotations

import json
import sys

import click

from grader.cli.options import device_option, lanes_option, read_setup, start_option
from grader.cli.telling import Pace, Say, broken_of, course_and_exercises, told_errors


@click.command()
@click.argument("names", metavar="[EXERCISE]...", nargs=-1)
@click.option("--seeds", type=click.IntRange(min=1), help="How many seeds right answers must pass with; by default 20.")
@click.option("--write-digests", is_flag=True, help="First bring the digests of starters in exercise.yaml up to date.")
@click.option("--losses", is_flag=True, help="Also show what each wrong answer loses, and on which rules.")
@click.option("--coverage", is_flag=True, help="Show which topic is taught where, and run nothing.")
@click.option("--watch", is_flag=True, help="Stay, and verify an exercise again when a file of it is saved; 2 seeds.")
@click.option("--poll", is_flag=True, help="With --watch: look for saved files again and again, for network drives.")
@click.option("--fresh", is_flag=True, help="Run also what has not changed since the last run; --json does so, too.")
@click.option("-q", "--quiet", is_flag=True, help="Only the table and what is wrong.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@lanes_option
@device_option
@start_option
def command(
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
    device: str,
    start: str | None,
) -> None:
    """Prove exercises: starters earn nothing, right answers pass, wrong ones are caught by the check they name."""
    say = Say(quiet=as_json)
    if coverage:
        _show_coverage(Say())
        return
    details = Say(quiet=quiet or as_json)
    details("Watching; Ctrl-C ends." if watch else "Verifying ...")
    with told_errors():
        from grader.author.cases import SEEDS
        from grader.author.losses import loss_lines
        from grader.author.run import verify
        from grader.author.runs import Runs
        from grader.author.table import proof_data, proof_lines
        from grader.course.kept import kept_results
        from grader.course.layout import refuse_given
        from grader.course.starter import write_digest
        from grader.grading.store import open_store

        course, exercises = course_and_exercises(names, tells=False)
        refuse_given(course.root, "verify")
        if write_digests:
            for exercise in exercises:
                if write_digest(exercise):
                    say(f"wrote the digest of {exercise.id}")
            course, exercises = course_and_exercises(names, tells=False)
        setup = read_setup(start, device)
        if watch:
            from grader.author.watch import SEEDS as FEW
            from grader.author.watch import Watch

            named = [exercise.id for exercise in exercises] if names else []
            with open_store(kept_results(course)) as store:
                Watch(course, named, setup, seeds or FEW, say, store, fresh=fresh).run(poll=poll)
        broken = [problem for item in broken_of(course, names) for problem in item.problems]
        if not names:
            broken += [problem for item in course.broken if not item.module for problem in item.problems]
        seeds = seeds or SEEDS
        with open_store(kept_results(course)) as store:
            runs = Runs(course, setup, store, fresh=fresh or as_json, ran=Pace(details))
            proofs = verify(exercises, setup, runs, seeds, details, lanes)
        details()  # what stands there meanwhile goes
        say(*runs.saved_lines())
        if losses:
            say("", *loss_lines(proofs), "")
        say(*proof_lines(proofs, broken))
        if as_json:
            click.echo(json.dumps(proof_data(proofs, broken), indent=1))
    sys.exit(1 if broken or any(proof.problems for proof in proofs) else 0)


def _show_coverage(say: Say) -> None:
    with told_errors():
        from grader.author.coverage import coverage_lines, unknown_topics
        from grader.course.topics import Coverage

        found = Coverage.of(course_and_exercises(())[0])
        say(*coverage_lines(found))
    if problems := unknown_topics(found):
        say("", *problems)
        sys.exit(1)
