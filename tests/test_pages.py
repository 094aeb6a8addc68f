"""What the module pages of the bundled course state is run with the installed PyTorch."""

from __future__ import annotations

import doctest
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import surprises_page
import torch
from statements import FILES, FOLDER, TORCH, problems, read_statements, squeezed
from support import ROOT

from grader.author.pages import map_page
from grader.course.layout import Places
from grader.course.load import load_course
from grader.course.topics import Coverage
from grader.student.games.drilling import answer, read_questions

PAGES = sorted((ROOT / "exercises").glob("*/README.md"))


_FENCED = re.compile(r"^```.*?^```$|^    [^\n]*$", re.MULTILINE | re.DOTALL)
_NO_SENTENCES = re.compile(r"^#.*$|^\|[ -|]*$|^Topics: .*(?:\n.+)*", re.MULTILINE)
_TESTS = re.compile(r"(tests/[\w/]+\.py)::(\w+)")
_END = re.compile(r"(?<=[.!?])(?:\*\*)? (?=[A-Z`\"(*|-])")


def sentences_of(page: str) -> list[str]:
    """Each sentence of a page, and each row of a table below its first one; no code, no pictures, no headings."""
    paragraphs = _NO_SENTENCES.sub("", _FENCED.sub("", page)).split("\n\n")
    found = []
    for paragraph in map(str.strip, paragraphs):
        rows = paragraph.splitlines()
        if paragraph.startswith("|"):
            found += [squeezed(row) for row in rows[1:] if row]
        else:
            found += [each for each in _END.split(squeezed(paragraph)) if each]
    return found


def overlaps(sentence: str, quotes: list[str]) -> bool:
    """Whether a quotation has the sentence, or stands in it."""
    return any(quote in sentence or sentence.strip("*.: ") in quote for quote in quotes)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_examples_of_pages_run(page: Path) -> None:
    """The lines after `>>>` on a module's page print what the page shows."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fenced = re.findall(r"^```\n(>>> .*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        known = {"torch": torch, "np": np}
        examples = doctest.DocTestParser().get_doctest("\n".join(fenced), known, page.parent.name, str(page), 0)
        assert doctest.DocTestRunner().run(examples).failed == 0


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_statements_hold(path: Path) -> None:
    """What the course states is true of the installed PyTorch; which sentence of which page is false, if one is."""
    assert list(problems(path)) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_statements_stand_on_their_pages(path: Path) -> None:
    """Each quotation stands in the file that is named above it, and something shows that it is true."""
    for statement in read_statements(path):
        text = squeezed((ROOT / statement.page).read_text(encoding="utf-8"))
        assert [quote for quote in statement.quotes if quote not in text] == [], statement.page
        shown = statement.shown.startswith((">>>", "Source: ", "Not run: "))
        assert shown, f"{path.name}, line {statement.line}: add examples, a `Source:` or `Not run:` with the reason"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_each_sentence_is_a_statement(page: Path) -> None:
    """Each sentence of a module's page is quoted in its file of statements: a new one needs lines that show it."""
    quotes = [quote for item in read_statements(FOLDER / f"{page.parent.name}.txt") for quote in item.quotes]
    missing = [each for each in sentences_of(page.read_text(encoding="utf-8")) if not overlaps(each, quotes)]
    assert missing == [], f"quote them in tests/statements/{page.parent.name}.txt, with lines that show them"


def test_tests_that_are_sources_exist() -> None:
    """A statement whose source is one of our tests names one that there is."""
    named = [each for path in FILES for item in read_statements(path) for each in _TESTS.findall(item.shown)]
    missing = [f"{file}::{test}" for file, test in named if f"def {test}(" not in (ROOT / file).read_text("utf-8")]
    assert missing == []
    assert len(named) > 30


def test_each_exercise_has_statements() -> None:
    """Of every exercise the task, the hints and the sentences of wrong answers are quoted."""
    quoted = {item.page for path in FILES for item in read_statements(path)}
    files = [
        path.as_posix()
        for places in map(Places.of, load_course(ROOT).exercises)
        for path in (places.starter, places.description, places.staff / "wrong.yaml")
    ]
    assert [path for path in files if path not in quoted] == []


def test_a_false_statement_is_named(tmp_path: Path) -> None:
    """A statement that does not hold is reported with its page, its words and the versions."""
    wrong = tmp_path / "wrong.txt"
    wrong.write_text(
        "# exercises/x/README.md\n\n> Half of 3\n> is 1\n\n>>> 3 / 2\n1\n\n> So\n\n>>> 2\n2\n", encoding="utf-8"
    )
    (problem,) = problems(wrong)
    assert problem.startswith(f"exercises/x/README.md states, and it is false with PyTorch {torch.__version__}")
    assert "  > Half of 3 is 1\n" in problem
    assert "1.5" in problem


def test_numbers_have_no_gaps() -> None:
    """The exercises of a module are numbered from 1, in the order of the course."""
    for module in load_course(ROOT).modules:
        numbers = [exercise.number for exercise in module.exercises]
        assert numbers == [f"{module.id[:2]}-{place}" for place in range(1, len(numbers) + 1)]


def test_map_is_that_of_the_course() -> None:
    """The map of the course has the minutes, topics and needs of its files."""
    course = load_course(ROOT)
    text = map_page(course, Coverage.of(course))
    assert (ROOT / "docs" / "course-map.md").read_text(encoding="utf-8") == text, "run: grade pages docs --map-only"


def test_drill_asks_what_the_installed_pytorch_does() -> None:
    """Each module has questions; each line runs and its answer stands among others; yes is as good a guess as no."""
    course = load_course(ROOT)
    questions = read_questions(course)
    answers = {question.place: answer(question) for question in questions}
    assert {question.module for question in questions} == {module.id for module in course.modules}
    assert len({question.id for question in questions}) == len(questions) >= 132
    assert [place for place, found in answers.items() if len(found.choices) < 2] == []
    ids = {exercise.id for exercise in course.exercises}
    assert [question.place for question in questions if question.exercise not in ids] == []
    changed = [answers[question.place].right == "yes" for question in questions if question.watch]
    assert 0.4 < sum(changed) / len(changed) < 0.6
    # What is right on some version only is among the others, too.
    known = [q.place for q in questions if answers[q.place].right in q.wrong and not q.since]
    assert known == []


def test_surprises_are_the_questions_of_the_drill() -> None:
    """The page, the students' copy of it, and the statements that run its lines are made of the questions."""
    asked = surprises_page.questions()
    assert {path.read_text(encoding="utf-8") for path in surprises_page.PAGES} == {surprises_page.page(asked)}
    if TORCH == (2, 13):  # where the answer differs, the statements name the version
        text = "\n".join(surprises_page.statements(asked)) + "\n"
        assert surprises_page.STATEMENTS.read_text(encoding="utf-8") == text, "run: python tests/surprises_page.py"
