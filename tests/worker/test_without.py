"""Exercises that are solved without PyTorch: their workers never had it, and no route leads there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
import torch
from support import COURSES, grader_of, message, open_lane, run_grade, verdicts

from grader.course.load import load_course
from grader.model import Course, GradedExercise, Limits
from grader.model.errors import CourseError
from grader.model.messages import Level, Setup, Start
from grader.runner.lane import Lane
from grader.sandbox.process import isolated_plain_command
from grader.worker_process.spawn import SpawnStarter

pytestmark = pytest.mark.lane

PLAIN = """
def steps(shape):
    result, step = (), 1
    for size in reversed(shape):
        result, step = (step, *result), step * size
    return result
"""
PACKAGES = str(Path(torch.__file__).parents[1])
SENTENCE = "is not available here: this exercise is solved in plain Python, with the standard library alone"


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(COURSES / "without")


@pytest.fixture(scope="module")
def lane(course: Course) -> Iterator[Lane]:
    """A lane for an exercise with PyTorch and one without."""
    with open_lane(course.exercises, Setup(Start.FORK)) as opened:
        yield opened


def with_check(course: Course, folder: Path, text: str) -> Course:
    """A copy of the course with another shown check."""
    copy = Path(shutil.copytree(course.root, folder / "course"))
    head = "import torch\nfrom grader.check import assert_cpu_time_ratio, check, count_costs\n\n\n"
    (copy / "exercises" / "01_without" / "steps" / "check_steps.py").write_text(head + text)
    return load_course(copy)


def earned(graded: GradedExercise) -> float:
    return graded.score.earned / 100


def test_both_kinds_in_one_lane(course: Course, lane: Lane, tmp_path: Path) -> None:
    """One exercise gets tensors, the other one gets workers in which neither PyTorch nor NumPy is loaded."""
    grade = grader_of(course, lane, tmp_path)
    assert earned(grade("def total(x):\n    return x.sum()\n", "tensor")) == 10
    spy = (
        "import sys\nprint(sorted({name.split('.')[0] for name in sys.modules} & {'torch', 'numpy'}), len(sys.path))\n"
    )
    graded = grade(spy + PLAIN, "steps")
    assert (earned(graded), graded.output) == (10, "[] 3\n")


RIGHT = {
    "imports that nothing uses": "import torch.nn as nn, math\nimport numpy as np\nfrom torch import Tensor\n",
    "a package that is not installed": "import no_such_package\nfrom no_such_package.part import thing\n",
    "a type that is only named": "from torch import Size\nfrom numpy import ndarray\ndef f(x: Size) -> ndarray: ...\n",
    "code of other exercises": "import torch\nfrom torch import nn\nx = torch.ones(3)\nclass Net(nn.Module): pass\n",
    "a program": "import torch\n\nif __name__ == '__main__':\n    print(torch.ones(3))\n",
    "a way without it": "try:\n    import torch\nexcept ImportError:\n    torch = None\nassert torch is None\n",
    "the future": '"""A."""\nfrom __future__ import annotations\nx: no_name = 1\nassert __doc__ == "A."\n',
}


@pytest.mark.parametrize("before", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_loses_nothing(course: Course, lane: Lane, tmp_path: Path, before: str) -> None:
    """What nothing of the exercise needs costs nothing, wherever it stands."""
    graded = grader_of(course, lane, tmp_path)(before + PLAIN, "steps")
    assert earned(graded) == 10, message(graded, "small")


ROUTES = {
    "import": "    import torch\n    return torch.empty(shape).stride()\n",
    "its name": "    return __import__('tor' + 'ch').empty(shape).stride()\n",
    "importlib": "    import importlib\n    return importlib.import_module('torch').empty(shape).stride()\n",
    "NumPy": "    import numpy\n    return tuple(n // 8 for n in numpy.empty(shape).strides)\n",
    "the search path": (
        f"    import sys\n    sys.path.insert(0, {PACKAGES!r})\n    sys.meta_path[:] = sys.meta_path[1:]\n"
        "    import torch\n    return torch.empty(shape).stride()\n"
    ),
    "a loader": (
        f"    from importlib.util import module_from_spec, spec_from_file_location as found\n"
        f"    spec = found('torch', {PACKAGES + '/torch/__init__.py'!r})\n    torch = module_from_spec(spec)\n"
        "    spec.loader.exec_module(torch)\n    return torch.empty(shape).stride()\n"
    ),
    "a library": (
        f"    import ctypes\n    ctypes.CDLL({PACKAGES + '/torch/lib/libtorch_cpu.so'!r})\n"
        "    return {(2, 5): (5, 1)}[shape]\n"
    ),
    "modules of ours": (
        "    from grader.worker import with_torch\n    return with_torch.torch.empty(shape).stride()\n"
    ),
}


@pytest.mark.parametrize("body", ROUTES.values(), ids=ROUTES)
def test_no_route_leads_to_it(course: Course, lane: Lane, tmp_path: Path, body: str) -> None:
    """By whichever route, the function raises, so that no check gets a value of PyTorch's."""
    assert lane.reached.level is Level.FULL
    graded = grader_of(course, lane, tmp_path)("def steps(shape):\n" + body, "steps")
    assert {"small": "crashed", "random": "crashed"}.items() <= verdicts(graded).items()
    assert earned(graded) <= 3


def test_the_sentence_and_the_line(course: Course, lane: Lane, tmp_path: Path) -> None:
    """The message names the package, the reason and the student's own line; the lines to try would work elsewhere."""
    text = "import torch\n\ndef steps(shape):\n    return torch.empty(shape).stride()\n"
    graded = grader_of(course, lane, tmp_path)(text, "steps")
    story = message(graded, "small")
    assert story.startswith(f"your `steps` raised ModuleNotFoundError: torch {SENTENCE}\n")
    assert "steps.py, line 4, in steps\n        return torch.empty(shape).stride()" in story
    assert "To see it" not in story
    assert "`steps` needs torch, which this exercise forbids" in message(graded, "alone")
    assert f"torch {SENTENCE}" in message(graded, "random")
    assert earned(graded) == 0


def test_a_name_that_was_left_out(course: Course, lane: Lane, tmp_path: Path) -> None:
    """Where the function itself is not there for lack of a package, the message says which line needs it."""
    text = "import torch\n\n@torch.no_grad()\ndef steps(shape):\n    return shape\n"
    story = message(grader_of(course, lane, tmp_path)(text, "steps"), "small")
    assert story.startswith("your steps.py has no `steps`: line 4 needs torch, which is not available in this exercise")


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("student.steps(torch.ones(2))", "cannot send an object of type Tensor to workers without torch and numpy"),
        (
            "count_costs(student.steps, (2, 5))",
            "`count_costs` needs PyTorch, which workers of this exercise do not have",
        ),
    ],
)
def test_checks_that_need_it(course: Course, tmp_path: Path, call: str, found: str) -> None:
    """A check that sends a tensor there, or counts operations, is a fault of the course, and the message says which."""
    changed = with_check(course, tmp_path, f"@check('C1', share=1)\ndef check_it(student):\n    {call}\n")
    with open_lane(changed.exercises, Setup(Start.FORK, most=Level.NONE)) as lane:
        graded = grader_of(changed, lane, tmp_path)(PLAIN, "steps")
    assert verdicts(graded)["it"] == "broken"
    assert found in next(row.outcome.detail for row in graded.checks if row.check.id == "it")


def test_what_python_adds_at_a_prompt(course: Course, lane: Lane, tmp_path: Path) -> None:
    """`exit()` ends the file as everywhere, with the sentence that says so."""
    graded = grader_of(course, lane, tmp_path)(PLAIN + "\nexit()\n", "steps")
    assert message(graded, "small").startswith("your steps.py ends itself while it loads, by exit(), sys.exit()")


def test_a_device_needs_it(course: Course, tmp_path: Path) -> None:
    """A check on a device cannot be collected in such an exercise, and the problem says what to remove."""
    changed = with_check(
        course, tmp_path, "@check('C1', share=1, device='sim')\ndef check_it(student):\n    student.steps\n"
    )
    with open_lane(changed.exercises, Setup(Start.FORK, most=Level.NONE)) as lane:
        problem = lane.collected.problems["steps"]
    assert problem.startswith(
        "check_steps.py: check_it has a device, which needs PyTorch, and `without` in exercise.yaml"
    )


def test_speed_of_plain_python(course: Course, tmp_path: Path) -> None:
    """Such functions are timed like others, on plain values."""
    text = (
        "@check('C1', share=1, category='performance')\n"
        "def check_it(student, reference, rng):\n"
        "    assert_cpu_time_ratio(student.steps, reference.steps, lambda n: ((2, 3, n),), size=100, at_most=3)\n"
    )
    changed = with_check(course, tmp_path, text)
    slow = PLAIN.replace("    result,", "    sum(n % 7 for n in range(100_000))\n    result,", 1)
    with open_lane(changed.exercises, Setup(Start.FORK, most=Level.NONE)) as lane:
        grade = grader_of(changed, lane, tmp_path)
        assert verdicts(grade(slow, "steps"))["it"] in ("failed", "inconclusive")
        assert verdicts(grade(PLAIN, "steps"))["it"] in ("passed", "inconclusive")


def test_all_or_none(course: Course, tmp_path: Path) -> None:
    """There are no workers with one of the two."""
    copy = Path(shutil.copytree(course.root, tmp_path / "course"))
    file = copy / "exercises" / "01_without" / "steps" / "exercise.yaml"
    file.write_text(file.read_text().replace("[torch, numpy]", "[torch]"))
    with pytest.raises(CourseError) as refused:
        load_course(copy)
    assert "exercise.yaml: without: add numpy" in str(refused.value)


@pytest.mark.parametrize("more", [("--start", "spawn"), ("--confinement", "reduced"), ("--confinement", "none")])
def test_at_each_level(course: Course, tmp_path: Path, more: tuple[str, ...]) -> None:
    """Fresh interpreters and lower levels take it away as well, as long as the search path stays as it is."""
    texts: Mapping[str, tuple[str, float]] = {
        "plain": (PLAIN, 10),
        "torch": ("def steps(shape):\n" + ROUTES["importlib"], 0),
    }
    for name, (text, points) in texts.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "steps.py").write_text(text)
        ran = run_grade("steps", "--submission", str(folder), "--json", "-", *more, cwd=course.root)
        (exercise,) = json.loads(ran.stdout)["exercises"]
        assert exercise["score"]["earned"] == points, ran.stdout


def test_a_lane_learns_of_it_later(course: Course, tmp_path: Path) -> None:
    """A lane that was opened for other exercises grades one without PyTorch once it is to."""
    steps, tensor = course.exercises
    with open_lane([tensor], Setup(Start.FORK, most=Level.NONE)) as lane:
        assert lane.collected.checks
        lane.recollect([steps])
        assert earned(grader_of(course, lane, tmp_path)(PLAIN, "steps")) == 10


def test_where_all_is_plain_no_interpreter_imports_torch(tmp_path: Path) -> None:
    """Of interpreters that are started ahead there are those of the kinds that are needed."""
    plain = isolated_plain_command("grader.worker", "plain", "spawned")
    starter = SpawnStarter(tmp_path, ["no such program"], lambda pid: None, plain=plain, spares={True})
    with closing(starter):
        starter.start_worker(Limits(), without_torch=True).close()
        with pytest.raises(FileNotFoundError):
            starter.start_worker(Limits())
