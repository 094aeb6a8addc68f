"""course.yaml with one exercise more: what people wrote there stays, and what is read back is what was meant."""

from __future__ import annotations

import itertools
import os

import pytest
import yaml

from grader.course.scaffold import with_exercise

LINES = """\
title: T
modules:
  - folder: 01_a
    title: A
    exercises:
      - one   # first
      - two
      # harder ones below

  # the second
  - folder: 02_b
    title: B
    exercises: [three]  # c

handins:
  - id: x
    title: X
    exercises: [one]
"""

COURSES = {
    "lines and brackets": LINES,
    "line ends of Windows": LINES.replace("\n", "\r\n"),
    "no line end": LINES.split("\nhandins")[0].rstrip(),
    "dashes at the left": "title: T\nmodules:\n- exercises: [\n    one,  # first\n  ]\n  folder: 01_a\n  title: A\n",
    "empty": "title: T\nmodules: []\nhandins: []\n",
    "both line ends, blanks at ends": LINES.replace("\n", "\r\n", 6).replace("handins:", "handins:  ") + " \n",
    "brackets": "title: T\nmodules: [{folder: 01_a, title: A, exercises: []}]\n",
}


@pytest.mark.parametrize(("text", "module"), [*itertools.product(COURSES.values(), ["01_a", "02_b", "03_c"])])
def test_one_name_more_and_nothing_else(text: str, module: str) -> None:
    """The exercise stands at the end of its own module, every other line stays, also where its name is YAML's `no`."""
    new, before = with_exercise(text, module, "On", "no"), yaml.safe_load(text)
    after = yaml.safe_load(new)
    (entry,) = [entry for entry in after["modules"] if entry["folder"] == module]
    assert entry["exercises"].pop() == "no"
    if module not in [entry["folder"] for entry in before["modules"]]:
        assert after["modules"].pop() == {"folder": module, "title": "On", "exercises": []}
    assert after == before
    comments = [line.partition("#")[2] for line in text.splitlines() if "#" in line]
    assert [line.partition("#")[2] for line in new.splitlines() if "#" in line] == comments
    if "\n" not in text.replace("\r\n", ""):
        assert "\n" not in new.replace("\r\n", "")
    if "[]" not in text:  # an empty list gets lines in its place
        same = [*map(len, map(os.path.commonprefix, ([text, new], [text[::-1], new[::-1]])))]
        assert sum(same) >= len(text)


def test_a_module_that_is_not_the_last() -> None:
    """A list of lines gets a line more, behind the last name and its comment, before what stands below."""
    assert with_exercise(LINES, "01_a", "", "new") == LINES.replace("- two\n", "- two\n      - new\n")
