"""`grade pack`: one zip to hand in, once all of its files are there and load."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.cli.courses import course_here, handin_of
from grader.cli.options import Workers, workers_options
from grader.cli.printing import Say

NOT_PACKED = 1


@click.command("pack")
@click.option("--handin", metavar="HANDIN", help="Which hand-in; may be left out where the course has one.")
@click.option("--out", default=".", type=click.Path(path_type=Path), help="Where the zip goes; by default this folder.")
@click.option("--force", is_flag=True, help="Pack what there is, also if something is missing or does not load.")
@click.option("-q", "--quiet", is_flag=True, help="Print only where the zip is, and what is wrong.")
@workers_options(confinement="none")
def pack_command(handin: str | None, out: Path, force: bool, quiet: bool, workers: Workers) -> None:
    """Pack the files of a hand-in into one zip, and print a receipt."""
    say, details = Say(), Say(quiet=quiet)
    details("Packing ...")
    from grader.student.pack import pack, the_handin, write_zip

    course = course_here()
    chosen = the_handin(course) if handin is None else handin_of(course, handin)
    receipt = pack(course, chosen, workers.setup(), out, details.running)
    details()  # erases the line that showed what was running
    say(*receipt.problems)
    if receipt.problems and not force:
        say("", "Nothing was packed. Fix this, or pack what there is:", "  grade pack --force")
        sys.exit(NOT_PACKED)
    path = write_zip(receipt, out)
    details(*receipt.lines(), f"The receipt is in {path}")
    say(str(out / receipt.name) if quiet else f"Hand in  {out / receipt.name}")
