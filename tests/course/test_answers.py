"""A wrong answer is a file, or a difference from the reference, of which a whole file is made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.answers import read_answer
from grader.course.layout import answer_paths
from grader.model import Course, Exercise
from grader.model.errors import CourseError

REFERENCE = '''"""The reference."""

from __future__ import annotations

import math
import os, sys
from torch import Tensor as T, zeros

FACTOR = 2


def double(x: T) -> T:
    return FACTOR * x


def double_(x: T) -> T:
    return x.mul_(math.prod([FACTOR]))
'''


@pytest.fixture
def exercise(tiny: Course, tmp_path: Path) -> Exercise:
    """An exercise with that reference."""
    reference = tmp_path / "reference.py"
    reference.write_text(REFERENCE)
    return replace(tiny.exercises[0], reference=reference)


def answer(folder: Path, lines: str) -> Path:
    """The file of a wrong answer, with more lines for us."""
    path = folder / "triples.py"
    path.write_text(f'"""You triple.\n\ncaught by: small\n{lines}"""\n\ndef double(x):\n    return 3 * x\n')
    return path


def refusal(exercise: Exercise, path: Path) -> str:
    """Why an answer cannot be read."""
    with pytest.raises(CourseError) as refused:
        read_answer(exercise, path)
    return str(refused.value)


def test_lines_for_us_do_not_belong_to_the_sentence(exercise: Exercise, tmp_path: Path) -> None:
    """What it breaks, and what is also right, are words in lines of their own; a file runs as it stands."""
    found = read_answer(exercise, answer(tmp_path, "breaks: C1, C3\nalso right: detached , the_argument\n"))
    assert found.sentence == "You triple."
    assert (found.breaks, found.fine) == (("C1", "C3"), ("detached", "the_argument"))
    path = answer(tmp_path, "")
    assert read_answer(replace(exercise, reference=None), path).source == path.read_bytes()


ENTRIES = """triples:
  says: You triple.
  caught by: small
  breaks: [C2]
  replace:
    FACTOR = 2: FACTOR = 3
copies:
  says: You copy.
  caught by: small
  code: |
    import copy

    def double_(x: T) -> T:
        return double(copy.copy(x))

    def helper():
        pass
twice:
  says: The text is there twice.
  caught by: small
  replace:
    "FACTOR": "2"
same:
  says: Nothing differs.
  caught by: small
unknown:
  says: A name is gone.
  caught by: small
  replace:
    FACTOR = 2: TWICE = 2
"""


def test_an_entry_names_rules_as_a_file_does(exercise: Exercise, tmp_path: Path) -> None:
    """`breaks: C1, C3` is read in wrong.yaml, too, beside a list."""
    entries = ENTRIES.replace("breaks: [C2]", "breaks: C1, C2")
    (tmp_path / "wrong.yaml").write_text(entries)
    assert read_answer(exercise, tmp_path / "wrong.yaml" / "triples").breaks == ("C1", "C2")


def test_an_entry_is_the_reference_with_what_it_replaces(exercise: Exercise, tmp_path: Path) -> None:
    """Texts are replaced, definitions of the same names too; new definitions and imports are added."""
    file = tmp_path / "wrong.yaml"
    file.write_text(ENTRIES)
    names = ("triples", "copies", "twice", "same", "unknown")
    assert answer_paths(tmp_path / "wrong", file) == tuple(file / name for name in names)
    triples = read_answer(exercise, file / "triples")
    assert triples.source.decode() == REFERENCE.replace("FACTOR = 2", "FACTOR = 3")
    assert (triples.sentence, triples.caught_by, triples.breaks) == ("You triple.", "small", ("C2",))
    copies = read_answer(exercise, file / "copies").source.decode()
    changed = REFERENCE.replace("return x.mul_(math.prod([FACTOR]))", "return double(copy.copy(x))")
    changed = changed.replace("import math", "import copy\nimport math")
    assert copies == changed + "\n\ndef helper():\n    pass\n"


def test_a_right_entry_needs_no_check(exercise: Exercise, tmp_path: Path) -> None:
    """An entry of right.yaml says what it does; where one text comes out of another, both are looked for before."""
    file = tmp_path / "right.yaml"
    file.write_text(
        "adds:\n  says: It adds.\n  replace:\n    import os, sys: import math\n    import math: import cmath, math\n"
    )
    adds = read_answer(exercise, file / "adds")
    assert adds.sentence == "It adds."
    changed = REFERENCE.replace("import math", "import cmath, math").replace("import os, sys", "import math")
    assert adds.source.decode() == changed
    file.write_text("adds:\n  says: It adds.\n  caught by: small\n  code: |\n    FACTOR = 2\n")
    assert "right.yaml: adds: caught by" in refusal(exercise, file / "adds")


def test_an_entry_says_what_is_wrong_with_it(exercise: Exercise, tmp_path: Path) -> None:
    """A text that is not there once, an entry that changes nothing, a file that is not YAML."""
    file = tmp_path / "wrong.yaml"
    file.write_text(ENTRIES)
    assert refusal(exercise, file / "twice") == (
        "wrong.yaml: twice: replace: the reference has 'FACTOR' 3 times; it must be there once"
    )
    assert "does not differ from the reference" in refusal(exercise, file / "same")
    assert refusal(exercise, file / "unknown") == "wrong.yaml: unknown: nothing is called FACTOR"
    file.write_text("a: [\n")
    assert "is not valid YAML" in refusal(exercise, file / "a")
