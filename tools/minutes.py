"""How many minutes each exercise takes, by what a student reads and writes; exits with 1 if an exercise.yaml differs.

    python tools/minutes.py [--write]

A student reads a task slowly, about 100 words a minute, since each rule counts. To find and write a statement takes a
minute in an exercise of difficulty 1, two in one of difficulty 2, and so on; the reference's functions say how many
there are. The sum is rounded to five minutes and ends at 45. Students were not timed: this is one estimate for the
whole course in place of 42 guesses.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import click

from grader.course.layout import EXERCISE_FILE, find_course
from grader.course.load import load_course
from grader.model import Exercise

WORDS_A_MINUTE = 100
STEP, MOST = 5, 45
APART = ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom


def estimate(exercise: Exercise) -> tuple[int, int, float]:
    """Return the words of the task, the statements of the reference's functions, and the minutes before rounding."""
    assert exercise.reference is not None
    starter = ast.parse(exercise.starter.read_bytes())
    task = ast.get_docstring(starter) or ""
    tree = ast.parse(exercise.reference.read_bytes())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = {id(node): node for function in functions for node in ast.walk(function) if isinstance(node, ast.stmt)}
    statements = sum(not isinstance(node, APART) for node in inside.values())
    # A blank to fill in takes half the time.
    blanks = [node for node in ast.walk(starter) if isinstance(node, ast.Dict) for node in node.values]
    statements += sum(isinstance(node, ast.Constant) and node.value is None for node in blanks) // 2
    words = len(task.split())
    return words, statements, words / WORDS_A_MINUTE + statements * exercise.difficulty


@click.command()
@click.option("--write", is_flag=True, help="Write the minutes into the files.")
def main(write: bool) -> None:
    """Print the estimated minutes of each exercise, and write them into exercise.yaml if asked to."""
    differ = 0
    print("     exercise                      words  statements  minutes")
    for exercise in load_course(find_course(Path())).exercises:
        words, statements, exact = estimate(exercise)
        minutes = min(MOST, max(STEP, STEP * round(exact / STEP)))
        says = "" if minutes == exercise.minutes else f"  (exercise.yaml: {exercise.minutes})"
        differ += bool(says) and not write
        print(f"{exercise.number} {exercise.id:28} {words:6} {statements:11} {exact:5.1f} → {minutes:2}{says}")
        if write and says:
            path = exercise.folder / EXERCISE_FILE
            text = path.read_text(encoding="utf-8")
            path.write_text(re.sub(r"^minutes:.*$", f"minutes: {minutes}", text, flags=re.MULTILINE), encoding="utf-8")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
