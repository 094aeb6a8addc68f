"""Lines to try, run in plain Python: they suit the reference, and show what is wrong with the wrong answer.

    python tools/lines_to_try.py EXERCISE...

Each known wrong answer is graded on the shown checks as a student's own copy does it. The lines below "To see it in
plain Python" are then run in plain Python, in processes of their own, once beside the wrong answer and once beside the
reference. What the two print must differ, and the reference may raise only an error that the message names as expected.
Prints each wrong answer of which that does not hold, then a table; exits with 1 if there is one.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path

import click
import torch  # noqa: F401  imported before the fork, so that it is paid for once

from grader.course.answers import as_submitted, read_answer
from grader.course.layout import find_course
from grader.course.load import find_exercises, load_course
from grader.grading.lanes import setup_of
from grader.grading.runtime import Runtime
from grader.model import Exercise
from grader.model.messages import CheckSelection
from grader.runner.lane import Lane

HEADING = "To see it in plain Python"
ON_RANKS = "to see it in plain Python"
_RAISED = "raised "


def typed(source: bytes, module: str, lines: str) -> str:
    """Return what lines print in a process of their own, beside this module, or the type of what they raise."""
    reading, writing = os.pipe()
    if (pid := os.fork()) == 0:
        printed = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
            (Path(folder) / f"{module}.py").write_bytes(source)
            os.chdir(folder)
            sys.path.insert(0, folder)
            try:
                exec(compile(lines, "lines", "exec"), {"__name__": "__main__"})
            except BaseException as error:
                print(f"{_RAISED}{type(error).__name__}")
            os.chdir("/")
        with os.fdopen(writing, "w") as file:
            file.write(printed.getvalue())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    os.waitpid(pid, 0)
    return text


def faults(exercise: Exercise, lane: Lane, tally: Counter[str]) -> list[str]:
    """Return a sentence for each line to try of an exercise's wrong answers that does not show the failure."""
    assert exercise.reference is not None
    reference = read_answer(exercise, exercise.reference).source
    shown = frozenset(check.id for check in lane.checks_of(exercise) if check.shown and check.category != "performance")
    found = []
    for path in exercise.wrong:
        answer = read_answer(exercise, path)
        run = lane.run(exercise, as_submitted(exercise, answer.source), 0, "", CheckSelection(shown, again=True))
        for outcome in run.outcomes:
            tally["on ranks"] += ON_RANKS in outcome.message
            _, heading, text = outcome.message.partition(HEADING)
            if not heading:
                continue
            lines = "\n".join(line.removeprefix("    ") for line in text.split("\n")[1:])
            expected, got = (typed(source, exercise.id, lines) for source in (reference, answer.source))
            tally["printed"] += 1
            raised = expected.rpartition(_RAISED)[2].strip() if _RAISED in expected else ""
            if expected == got or (raised and raised not in outcome.message.partition(HEADING)[0]):
                found.append(f"{exercise.number} {path.name} {outcome.check}\n{lines}\n{expected=}\n{got=}")
    return found


@click.command()
@click.argument("names", nargs=-1, required=True)
def command(names: tuple[str, ...]) -> None:
    """Print each line to try that does not show the failure, and how many lines there are for each exercise."""
    course = load_course(find_course(Path.cwd()))
    rows, bad = [], 0
    for exercise in [item for name in names for item in find_exercises(course, name)]:
        tally = Counter[str]()
        with Runtime([exercise], setup_of()) as runtime, closing(runtime.open_lane()) as lane:
            wrong = faults(exercise, lane, tally)
        bad += len(wrong)
        for text in wrong:
            click.echo(text)
        rows.append((exercise.number, len(exercise.wrong), tally["printed"], tally["on ranks"], len(wrong)))
        click.echo("| " + " | ".join(map(str, rows[-1])) + " |")
    sys.exit(bad > 0)


if __name__ == "__main__":
    command()
