"""What the checks that a student can see counted, beside other solutions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from grader.course.answers import as_submitted, read_answer
from grader.model import Course, Exercise
from grader.model.messages import Setup
from grader.report.safe import for_terminal, prose
from grader.report.words import counts_text
from grader.student import folder

_NAME = 9


def counted_lines(course: Course, exercise: Exercise, setup: Setup, width: int) -> Iterator[str]:
    """Yield lines that compare the student's code with other answers by what checks count.

    Below each check, a line such as `reference 3 operations` stands for each answer. The other answers are the
    reference, the other right answers and the starter.

    Args:
        course: the course of the exercise.
        exercise: an exercise with a reference.
        setup: the set-up of the lanes.
        width: the width of a line, in characters.

    Raises:
        GraderError: a process of ours cannot be started.
    """
    from grader.student.own import open_own_exercise, read_own_files

    assert exercise.reference is not None
    texts = {"reference": exercise.reference.read_bytes(), "starter": folder.starter_of(course, exercise)}
    texts |= {path.stem: read_answer(exercise, path).source for path in exercise.right}
    mine = read_own_files(course, [exercise])
    answers = {"yours": mine} | {
        name: replace(mine.with_files(exercise, as_submitted(exercise, text)), author=name)
        for name, text in texts.items()
        if text is not None
    }
    with open_own_exercise(course, exercise, setup) as own:
        graded = {name: own.grade(answer, with_tries=False).exercises[0] for name, answer in answers.items()}
    counts = {
        name: {row.check.id: counts_text(row.outcome.counters) for row in it.checks} for name, it in graded.items()
    }
    checks = [row.check for row in graded["yours"].checks if any(said.get(row.check.id) for said in counts.values())]
    if not checks:
        yield "The checks of this exercise count nothing, so there are no numbers to compare."
    for check in checks:
        yield from prose(f"{check.contract:<4}{for_terminal(check.title, one_line=True)}", width, "", "    ")
        for name, said in counts.items():
            if check.id in said:
                yield from prose(f"{name:<{_NAME}} {said[check.id] or 'nothing'}", width, "    ", "  ")
