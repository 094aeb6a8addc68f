"""How long the project's own tests take, as `make test` runs them, and how many there are.

    python benchmarks/suite.py [--against d2f5de22] [PATH...]

Each build runs its own tests in its own folder, one after the other; with paths only these. A run takes many minutes,
so none is left out as a warm-up, and each runs once. The second number is that of tests: fewer of them are no gain.
"""

from __future__ import annotations

import re
import sys

import builds
import click

TARGET = 0.6
_COMMAND = ("-m", "pytest", "-q", "-n", "auto", "--maxprocesses", "4")


@click.command(help=__doc__)
@click.argument("paths", nargs=-1)
@builds.against
def main(paths: tuple[str, ...], against: tuple[str, ...]) -> None:
    """Run the tests of each build, and print their times and the ratios."""
    taken: dict[str, list[float]] = {}
    with builds.opened(against) as found:
        for build in found:
            ran = builds.run([sys.executable, *_COMMAND, *paths], build.root, build.environment())
            counts = {
                word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|errors?|skipped)", ran.text)
            }
            if "passed" not in counts:
                raise click.ClickException(f"the tests of {build.name} did not run:\n{ran.text}")
            taken[build.name] = [ran.wall]
            print(f"{build.name}: {ran.wall:.0f} s, {counts}", flush=True)
    for build in found[1:]:
        builds.ratio(taken, found[0].name, build.name, TARGET)


if __name__ == "__main__":
    main()
