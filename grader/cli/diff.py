"""`grade diff OUT`: what the last regrade changed."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.telling import Say, course_and_exercises, told_errors


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--all", "every", is_flag=True, help="Also what was graded again and stayed as it was.")
@click.option("--course", "course_folder", type=click.Path(path_type=Path), help="The course; by default this folder.")
def command(out: Path, every: bool, course_folder: Path | None) -> None:
    """Show scores before and after the last regrade into OUT, by author and check, and why each was graded again."""
    say = Say()
    with told_errors():
        from grader.batch.book import last_regrade
        from grader.batch.journal import open_journal
        from grader.model.score import counted
        from grader.report.diff import check_lines, exercise_line

        course, _ = course_and_exercises((), course_folder)
        with open_journal(out, new=False) as journal:
            diff = last_regrade(course, journal)
        if not diff.at:
            say("Nothing was graded again yet: all that counts is the first that was found.")
            return
        changed = [change for change in diff.changes if change.checks]
        for change in diff.changes if every else changed:
            before, after = change.before.score.earned, change.after.score.earned
            say(exercise_line(change.author, change.after.exercise.number, before, after, change.why))
            for check in change.checks:
                say(*check_lines(check.id, check.before, check.after))
        again = counted(len(diff.changes), "exercise")
        say(f"Graded again on {diff.at}: {again}, of which {len(changed)} ended otherwise.")
