"""How a user may name an exercise."""

from __future__ import annotations

import pytest
from support import COURSES

from grader.course.load import find_exercises, load_course
from grader.model.errors import CourseError


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("total", ["total"]),
        ("total.py", ["total"]),
        ("01-2", ["total"]),
        ("1-2", ["total"]),
        ("exercises/01_basics/total/total.py", ["total"]),
        ("exercises/01_basics/total/", ["total"]),
        ("exercises\\01_basics\\total", ["total"]),
        ("01", ["double", "total"]),
        ("1", ["double", "total"]),
        ("01_basics", ["double", "total"]),
        ("exercises/01_basics", ["double", "total"]),
    ],
)
def test_names_as_people_type_them(name: str, found: list[str]) -> None:
    """Ids, numbers with and without a zero, paths as they are printed, and modules are all names."""
    assert [exercise.id for exercise in find_exercises(load_course(COURSES / "tiny"), name)] == found


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
def test_wrong_name_is_answered_with_the_nearest(name: str, told: str) -> None:
    """A wrong name is answered with the nearest exercise, module or command; where none is near, with what there is."""
    with pytest.raises(CourseError, match=told):
        find_exercises(load_course(COURSES / "tiny"), name, ["verify", "batch"])
