"""How a user may name an exercise."""

from __future__ import annotations

import pytest

from grader.course.load import find_exercises
from grader.model import Course
from grader.model.errors import CourseError


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("total total.py 01-2 1-2", ["total"]),
        (r"exercises/01_basics/total/total.py exercises/01_basics/total/ exercises\01_basics\total", ["total"]),
        ("01 1 01_basics exercises/01_basics", ["double", "total"]),
    ],
)
def test_names_as_people_type_them(tiny: Course, names: str, found: list[str]) -> None:
    """Ids, numbers with and without a zero, paths as they are printed, and modules are all names."""
    for name in names.split():
        assert [exercise.id for exercise in find_exercises(tiny, name)] == found, name


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("totl", "no exercise or command 'totl'; did you mean total"),
        ("01-3", "no exercise or command '01-3'; module 01 has 01-1, 01-2"),
        ("1-22", "module 01 has 01-1, 01-2"),
        ("99-9", "the numbers are 01-1 to 01-2:  grade list  shows them"),
        ("verfy", "did you mean verify"),
        ("zzzzzz", "no exercise or command 'zzzzzz';  grade list  shows the exercises"),
    ],
)
def test_wrong_name_is_answered_with_the_nearest(tiny: Course, name: str, told: str) -> None:
    """A wrong name is answered with the nearest exercise, module or command; where none is near, with what there is."""
    with pytest.raises(CourseError, match=told):
        find_exercises(tiny, name, ["verify", "batch"])
