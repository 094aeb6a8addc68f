"""The page of surprises and its statements, made of the questions of `grade drill`: `python tests/surprises_page.py`.

It writes docs/surprises.md, the same page for students in exercises/surprises.md, and tests/statements/surprises.txt,
which runs each line and what its reason says with any PyTorch. Where an answer depends on the version, `since` says it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from grader.course.load import load_course
from grader.student.games.drilling import RAISES, Question, answer, read_questions

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "docs" / "surprises.md", ROOT / "exercises" / "surprises.md")
STATEMENTS = ROOT / "tests" / "statements" / "surprises.txt"
_WIDTH = 120
_WHOLE_WORDS: Any = {"break_long_words": False, "break_on_hyphens": False}
_TOP = """\
Lines of code that often do something else than their author expects: what each line does, and why. `grade drill` asks
these questions and runs the lines on your own PyTorch. The number in parentheses is the exercise on the subject."""


def questions() -> list[Question]:
    """The questions that ask what a line shows."""
    return [question for question in read_questions(load_course(ROOT)) if not question.watch]


def page(asked: Sequence[Question]) -> str:
    """The whole page."""
    course = load_course(ROOT)
    numbers = {exercise.id: exercise.number for exercise in course.exercises}
    lines = ["# Surprises", "", _TOP]
    for module in course.modules:
        mine = [question for question in asked if question.module == module.id]
        lines += ["", f"## {module.title}", ""] if mine else []
        for question in mine:
            text = f"{_fact(question)} {question.why} ({numbers[question.exercise]})"
            lines += textwrap.wrap(f"- {text}", _WIDTH, subsequent_indent="  ", **_WHOLE_WORDS)
    return "\n".join(lines) + "\n"


def _fact(question: Question) -> str:
    """What the last line shows, and what it does not."""
    *first, last = (f"`{line}`" for line in question.lines)
    found, before = answer(question), f"After {', '.join(first)}: " if first else ""
    if question.since:
        return f"{before}{last} depends on the version of PyTorch."
    if found.right.startswith(RAISES):
        expected = "returning" if question.wrong[0] == "None" else f"returning {_code(question.wrong[0])}"
        return f"{before}{last} {found.right}, instead of {expected}."
    wrong = question.wrong[0]
    expected = f"an error, {wrong.removeprefix(RAISES)}" if wrong.startswith(RAISES) else _code(wrong)
    return f"{before}{last} is {_code(found.right)}, not {expected}."


def _code(text: str) -> str:
    return f"`{' '.join(text.split())}`"


def statements(asked: Sequence[Question]) -> Iterator[str]:
    """A file of statements: for each question the sentence of the page, and the lines that show it."""
    yield "# docs/surprises.md"
    for question in asked:
        yield ""
        yield f"> {question.why}"
        yield ""
        for line in question.lines[:-1]:
            yield from (f">>> {line}", "...") if line.startswith(("with ", "for ")) else (f">>> {line}",)
        found, last = answer(question), question.lines[-1]
        if question.since:
            version = tuple(int(part) for part in question.since.split("."))
            yield f">>> bool({last} == (0 if TORCH >= {version} else 1))"
            yield "True"
        elif found.right.startswith(RAISES):
            yield f">>> raised(lambda: {last}).lstrip('_')"
            yield repr(found.right.removeprefix(RAISES))
        else:
            yield f">>> {last}"
            yield from () if found.right == "None" else (found.right,)
        for line in question.holds:
            yield f">>> bool({line})"
            yield "True"


def main() -> None:
    """Write the pages and the statements."""
    asked = questions()
    for path in PAGES:
        path.write_text(page(asked), encoding="utf-8")
    STATEMENTS.write_text("\n".join(statements(asked)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
