"""Checks of devices: the simulated accelerator in workers, and CUDA on request."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from check_process.courses import course_with
from support import FORK, WarmGrade, grader_of, open_lane, written

from grader.check_process.reproduce import calls_as_lines
from grader.connection.record import Call
from grader.model import Course, DeviceKind, Verdict
from grader.model.errors import ConfinementError, DeviceError, StartError
from grader.model.messages import Setup, Start

pytestmark = pytest.mark.lane

IMPORTS = """
import torch
from grader.check import check, assert_device, assert_values, assert_costs_at_most

"""

CHECKS = f"""{IMPORTS}

@check("C1")
def check_none(student):
    '''Sees no accelerator'''
    assert not student.found()


@check("C1", device="sim")
def check_found(student, accelerator):
    '''Sees two devices'''
    assert student.found() == [accelerator.type, accelerator.count] == ["sim", 2]


@check("C1", device="sim")
def check_placed(student, reference, accelerator):
    '''Its arguments, and the reference's, are where the check put them'''
    x = accelerator.put(torch.ones(3), 1)
    for side in (student, reference):
        y = side.double(x)
        assert_device(y, accelerator.device(1))
        assert_values(y, 2 * torch.ones(3))


@check("C1", device="sim")
def check_waits(student, accelerator):
    '''Waits once'''
    assert_costs_at_most(student.waits, (accelerator.put(torch.ones(30)),), syncs=1)


@check("C1", device="sim")
def check_three(student, accelerator):
    '''Needs three devices'''
    student.double(accelerator.put(torch.ones(3), 2))


@check("C1", device="cuda")
def check_cuda(student):
    '''Is for CUDA'''
    student.double(torch.ones(2))
"""

DOUBLE = "def double(x):\n    return 2 * x\n"
MINE = f"""
import torch
{DOUBLE}
def found():
    there = torch.accelerator.is_available()
    return [torch.accelerator.current_accelerator().type, torch.accelerator.device_count()] if there else []
def waits(x): return [v.item() for v in x]
"""


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course with checks of devices."""
    course = course_with(tmp_path, CHECKS, "")
    (course.root / "solutions/01_basics/double/double.py").write_text(DOUBLE)
    return course


def test_checks_of_devices(course: Course, tmp_path: Path) -> None:
    """Each check gets the worker that it asked for; the report says which; what is not here is not run."""
    with open_lane(course.exercises[:1], FORK) as lane:
        graded = grader_of(course, lane, tmp_path)(MINE)
    told = {row.check.id: row.outcome for row in graded.checks}
    assert {id: (outcome.verdict.value, outcome.device) for id, outcome in told.items()} == {
        "none": ("passed", "none"),
        "found": ("passed", "sim"),
        "placed": ("passed", "sim"),
        "waits": ("failed", "sim"),
        "three": ("not_run", "sim"),
        "cuda": ("not_run", None),
    }
    assert "needs more sim devices than this machine has" in told["three"].message
    assert "grade --device cuda uses one" in told["cuda"].message
    assert "host: wait for item" in told["waits"].message
    assert told["waits"].counters == {"syncs": 30}
    assert "in plain Python" not in told["waits"].message  # a print shows no wait
    assert graded.score.undecided > 0


NAMED_CUDA = f"""{IMPORTS}
@check("C1", device="sim-cuda")
def check_there(student, accelerator):
    '''Is there under the name that the task uses'''
    assert student.there() == [True, 2, "cuda", True]
    assert (accelerator.type, accelerator.device(), accelerator.device(1)) == ("sim-cuda", "cuda", "cuda:1")


@check("C1", device="sim-cuda")
def check_moves(student, reference, accelerator):
    '''Moves, by each way to say it'''
    x = torch.arange(3.0)
    for name in ("by_method", "by_text", "by_device"):
        y = getattr(student, name)(x)
        assert_device(y, "cuda")
        assert_values(y, 2 * x)
    assert_device(student.to(x, torch.device("cuda:1")), "cuda:1")
    assert_device(student.double(accelerator.put(x, 1)), accelerator.device(1))
    assert_values(reference.double(accelerator.put(x)), 2 * x)
    assert_costs_at_most(student.by_method, (x,), transfers=1, syncs=1)


@check("C1", device="sim-cuda")
def check_stays(student, accelerator):
    '''Stays on the device'''
    assert_device(student.leaves(accelerator.put(torch.ones(2))), "cuda")


@check("C1", device="sim")
def check_sim(student):
    '''Another check has its own name for it'''
    assert student.there()[0] is False


@check("C1")
def check_without(student):
    '''And others have none'''
    assert student.there()[:2] == [False, 0]
"""

ON_CUDA = f"""
import torch
{DOUBLE}
def there(): return [torch.cuda.is_available(), torch.cuda.device_count(), str(pick()), pick().type == "cuda"]
def pick(): return torch.device("cuda" if torch.cuda.is_available() else "cpu")
def by_method(x): return (x.cuda() * 2)
def by_text(x): return (x.to("cuda") * 2)
def by_device(x): return (x.to(pick()) * 2)
def to(x, device): return x.to(device)
def leaves(x): return x.cpu()
"""


def test_a_simulated_device_under_the_name_cuda(course: Course, tmp_path: Path) -> None:
    """What a task for GPUs says works: `.cuda()`, `to("cuda")`, `torch.cuda.is_available()`; nothing else sees it."""
    check_file = course.root / "exercises/01_basics/double/check_double.py"
    check_file.write_text(NAMED_CUDA)
    with open_lane(course.exercises[:1], FORK) as lane:
        graded = grader_of(course, lane, tmp_path)(ON_CUDA)
    told = {row.check.id: row.outcome for row in graded.checks}
    assert {id: (outcome.verdict.value, outcome.device) for id, outcome in told.items()} == {
        "there": ("passed", "sim-cuda"),
        "moves": ("passed", "sim-cuda"),
        "stays": ("failed", "sim-cuda"),
        "sim": ("passed", "sim"),
        "without": ("passed", "none"),
    }, {id: outcome.detail for id, outcome in told.items()}
    assert told["stays"].message.startswith("expected the result to be on cuda, got cpu")


def test_lines_for_a_simulated_device() -> None:
    """Lines that repeat a call on a simulated accelerator switch it on first."""
    lines = calls_as_lines("work", [Call("total", (torch.ones(1),), {})], "", DeviceKind.SIM)
    assert lines is not None
    typed = [line.strip() for line in lines.text.splitlines()]
    assert typed[2:4] == ["from grader import accelerator", 'accelerator.enable("sim")']
    assert typed[-1] == lines.calls == "print(total(torch.tensor([1.0], dtype=torch.float32)))"
    named = calls_as_lines("work", [Call("total", (torch.ones(1),), {})], "", DeviceKind.SIM_CUDA)
    assert named is not None and 'accelerator.enable("cuda")' in named.text


def test_cuda_checks_say_what_they_need(type_grade: WarmGrade, course: Course, tmp_path: Path) -> None:
    """CUDA wants spawned workers, no sandbox, and a device; what is missing is said before anything runs."""
    cuda = Setup(Start.FORK, DeviceKind.CUDA)
    with pytest.raises(StartError, match="take --start spawn with --device cuda"), open_lane((), cuda):
        pass
    written(tmp_path / "class", {"ada/double.py": "def double(x):\n    return 2 * x\n"})
    words = ("batch", str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--device", "cuda")
    ran = type_grade(*words, cwd=course.root)
    assert ran.returncode == ConfinementError.exit_status
    assert "leave out --start spawn and --device cuda" in ran.stderr
    if not torch.cuda.is_available():
        ran = type_grade("double", "--device", "cuda", "--submission", str(tmp_path), cwd=course.root)
        assert ran.returncode == DeviceError.exit_status == 2
        assert "PyTorch finds no cuda device on this machine; without --device" in ran.stderr


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
def test_checks_on_cuda(course: Course, tmp_path: Path) -> None:
    """The same checks on CUDA: the arguments are there, and the checks for CUDA alone are run."""
    with open_lane(course.exercises[:1], Setup(Start.SPAWN, DeviceKind.CUDA)) as lane:
        graded = grader_of(course, lane, tmp_path)(MINE)
    found = {row.check.id: (row.outcome.verdict, row.outcome.device) for row in graded.checks}
    assert found["none"] == (Verdict.PASSED, "none")
    assert found["placed"][1] == found["cuda"][1] == "cuda"
    assert found["cuda"][0] is Verdict.PASSED
