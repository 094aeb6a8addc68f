"""Run the benchmarks of README.md one after another, and show every ratio beside its target.

    python benchmarks/run.py [NAME...] [--against d2f5de22]

Without names all of them run, which takes hours on a small machine. Each is a program of its own in this folder; its
output is passed on as it comes. The exit status is 1 if a benchmark ended with an error.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

FOLDER = Path(__file__).parent
NAMES = ("short_checks", "against_pytest", "student_waits", "page_waits", "first_run", "batch_memory", "suite")
"""The benchmarks that have a target, in the order of the table."""

ALONE = {"first_run", "page_waits"}
"""Benchmarks that compare nothing with an older build."""


@click.command(help=__doc__)
@click.argument("names", nargs=-1, type=click.Choice(NAMES))
@click.option("--against", metavar="COMMIT", help="An older build of this project, for the ratios that need one.")
def main(names: tuple[str, ...], against: str | None) -> None:
    """Run the named benchmarks, or all of them."""
    failed = []
    for name in names or NAMES:
        words = ["--against", against] if against and name not in ALONE else []
        print(f"\n{name} {' '.join(words)}", flush=True)
        if subprocess.run([sys.executable, str(FOLDER / f"{name}.py"), *words], check=False).returncode:
            failed.append(name)
    if failed:
        raise click.ClickException(f"ended with an error: {', '.join(failed)}")


if __name__ == "__main__":
    main()
