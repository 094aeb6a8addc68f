"""What the module pages of the bundled course state is run with the installed PyTorch."""

from __future__ import annotations

import doctest
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support import ROOT
from torch import eye, linalg, ones, tensor, zeros
from torch.utils.benchmark import Timer

from grader.author.pages import map_page
from grader.course.load import load_course
from grader.course.topics import Coverage
from grader.student.games.drilling import answer, read_drill

PAGES = sorted((ROOT / "exercises").glob("*/README.md"))


def raised(call: Any, kind: type[Exception] = RuntimeError) -> bool:
    """Whether a call raises this, and no other exception."""
    try:
        call()
    except kind:
        return True
    return False


def warned(call: Any) -> bool:
    """Whether a call warns."""
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        call()
    torch.set_warn_always(always)
    return bool(said)


def ints(*numbers: int) -> torch.Tensor:
    return tensor(numbers)


def half(*sizes: int) -> torch.Tensor:
    return ones(sizes, dtype=torch.float16)


def loop_over_ones(count: int) -> float:
    total = half()
    for one in half(count):
        total = total + one
    return total.item()


def after(start: Any, change: Any) -> Any:
    """A value after a change in place."""
    change(start)
    return start


FACTS: dict[str, dict[str, Any]] = {
    "01_making": {
        "`torch.tensor([[], [1]])` has shape (2, 0)": lambda: tensor([[], [1]]).shape == (2, 0),
        "Rows of different lengths raise ValueError": lambda: raised(lambda: tensor([[1], []]), ValueError),
        "`torch.Tensor([16777217])` converts to float32 and gives 16777216": lambda: (
            torch.Tensor([16777217]).item() == 16777216
        ),
        "it has five uninitialized elements": lambda: torch.Tensor(5).shape == (5,),
        "int64, because 15 is an int": lambda: torch.full((2, 3), 15).dtype is torch.int64,
        "`fill_value=`, not `value=`": lambda: (
            raised(lambda: torch.full((2,), value=15), TypeError)  # type: ignore[call-overload]
            and torch.full((2,), fill_value=15).sum() == 30
        ),
        "3 powers of ten: 1e2, 1e6, 1e10": lambda: torch.logspace(2, 10, 3).tolist() == [1e2, 1e6, 1e10],
        "`rand_like` of an int tensor raises": lambda: raised(lambda: torch.rand_like(ints(1)), Exception),
        "`arange(1, 1.3, 0.1)` has four elements": lambda: torch.arange(1, 1.3, 0.1).numel() == 4,
        "is one of your own: `rand(2, 3, generator=g)` draws from it": lambda: torch.rand(
            2, 3, generator=torch.Generator().manual_seed(5)
        ).equal(torch.rand(2, 3, generator=torch.Generator().manual_seed(5))),
        "No elements print as `tensor([], size=(2, 0))`": lambda: repr(zeros(2, 0)) == "tensor([], size=(2, 0))",
        "`type(t)` is `torch.Tensor` for every dtype": lambda: type(ints(1)) is torch.Tensor is type(half(1)),
    },
    "02_memory": {
        "swapping the first and the last dim gives (1, 3, 6)": lambda: (
            zeros(1, 2, 3).transpose(0, -1).stride() == (1, 3, 6)
        ),
        "has strides (3, 6, 1) and is contiguous": lambda: (
            zeros(1, 2, 3).transpose(0, 1).stride() == (3, 6, 1) and zeros(1, 2, 3).transpose(0, 1).is_contiguous()
        ),
        "a size of 0 counts as 1": lambda: zeros(3, 0, 2).stride() == (2, 2, 1),
        "raises for fewer than two dims": lambda: raised(lambda: ones(3).mT),
        "returns a 0-dim or 1-dim t as it is; raises for more": lambda: (
            ones(3).t().shape == (3,) and raised(lambda: zeros(1, 2, 3).t())
        ),
        "reverses all dims, with a warning unless t has 2 dims": lambda: (
            [warned(lambda n=n: zeros([2] * n).T) for n in range(4)] == [True, True, False, True]
        ),
        "ten float32 numbers sliced from a thousand hold 4,000 bytes": lambda: (
            zeros(1000)[:10].untyped_storage().nbytes() == 4000
            and zeros(1000)[:10].clone().untyped_storage().nbytes() == 40
        ),
        "It is deprecated and warns": lambda: (
            torch.storage._reset_warn_typed_storage_removal() is None  # it warns once in a process
            and warned(lambda: zeros(2).storage()[1])
        ),
        "`clone()` keeps the order of the strides": lambda: zeros(2, 3).t().clone().stride() == (1, 3),
        "PyTorch has no negative strides": lambda: raised(lambda: zeros(2).as_strided((2,), (-1,)), Exception),
        "A negative step raises ValueError": lambda: raised(lambda: ints(1, 2)[::-1], ValueError),
        "`t[:, ::2]` doubles a stride": lambda: zeros(3, 4)[:, ::2].stride() == (4, 2),
    },
    "03_dtypes": {
        "`mean` of an int tensor raises": lambda: raised(lambda: ints(1).mean()),
        "A division of ints or bools gives the default float, float32": lambda: (
            (ints(1) / ints(2)).dtype is (tensor(True) / tensor(True)).dtype is torch.float32
        ),
        "float64 with complex64 is complex128": lambda: (
            torch.promote_types(torch.float64, torch.complex64) is torch.complex128
        ),
        "float16 and bfloat16 in float32": lambda: torch.promote_types(torch.float16, torch.bfloat16) is torch.float32,
        "uint16, uint32 and uint64 raise beside other ints and bools": lambda: all(
            raised(lambda one=one, other=other: torch.promote_types(one, other))
            for one in (torch.uint16, torch.uint32, torch.uint64)
            for other in (torch.bool, torch.uint8, torch.int8, torch.int64)
        ),
        "the float8 dtypes beside every other dtype": lambda: all(
            raised(lambda other=other: torch.promote_types(torch.float8_e4m3fn, other))
            for other in (torch.bool, torch.uint8, torch.int64, torch.float16, torch.float32, torch.float64)
        ),
        "`ints.add_(1.5)` raises, and float16 += float64 works": lambda: (
            raised(lambda: ints(1).add_(1.5)) and not raised(lambda: half(2).add_(ones(2).double()))
        ),
        "`@` needs equal dtypes": lambda: raised(lambda: ones(2, 2) @ ones(2, 2).double()),
        "a loop over ones stops at 2048": lambda: loop_over_ones(2060) == 2048,
        "The sum of an int tensor is int64": lambda: ints(1).to(torch.int8).sum().dtype is torch.int64,
    },
    "04_picking": {
        "`t[0:n]` has n rows, `t[0:1]` one, and `t[0:0]` none": lambda: (
            [len(zeros(3, 4)[0:n]) for n in (0, 1, 2)] == [0, 1, 2]
        ),
        "PyTorch raises ValueError for `t[::-1]`": lambda: raised(lambda: zeros(3)[::-1], ValueError),
        "`t[None]` has shape (1, 3, 4)": lambda: zeros(3, 4)[None].shape == (1, 3, 4),
        "writes to the copy that the first bracket made": lambda: (
            not after(zeros(3, 4), lambda a: a[[0, 2]][:, 1].fill_(561)).any()
        ),
        "`a[[0, 2], 1] = 561`": lambda: after(zeros(3, 4), lambda a: a.__setitem__(([0, 2], 1), 561)).sum() == 1122,
        "is the two elements (0, 3) and (2, 1)": lambda: torch.arange(12).view(3, 4)[[0, 2], [3, 1]].tolist() == [3, 9],
        "`argmax()` without a dim counts all elements in reading order": lambda: tensor([[1, 2], [9, 3]]).argmax() == 2,
    },
    "05_shapes": {
        "`squeeze(d)` does nothing and raises nothing": lambda: zeros(2, 3).squeeze(0).shape == (2, 3),
        "unless another size is 0": lambda: raised(lambda: zeros(0, 3).view(0, -1)),
        "`torch.reshape(x, (6,))` takes a tuple only": lambda: raised(lambda: torch.reshape(zeros(6), 6), TypeError),  # type: ignore[arg-type]
        "A linear layer takes (..., features)": lambda: torch.nn.Linear(3, 5)(zeros(2, 4, 3)).shape == (2, 4, 5),
    },
    "06_arithmetic": {
        "(4, 3, 1) with (0,) is (4, 3, 0)": lambda: (zeros(4, 3, 1) + zeros(0)).shape == (4, 3, 0),
        "(4, 3, 2) with (0,) fails": lambda: raised(lambda: zeros(4, 3, 2) + zeros(0)),
        "`x += y` raises where `x + y` grows": lambda: raised(lambda: zeros(3).add_(zeros(3, 1))),
        "the stretched dim gets stride 0": lambda: zeros(3).expand(4, 3).stride() == (0, 1),
        "gives one bool, and ignores dtypes": lambda: torch.equal(ones(2), ones(2).double()),
        "raises if the dtypes differ": lambda: raised(lambda: torch.allclose(ones(2), ones(2).double())),
        "(n, d) with (d, m) gives (n, m), and dims in front are a batch": lambda: (
            (ones(7, 2, 3) @ ones(7, 4, 3).mT).shape == (7, 2, 4)
        ),
        "divide by one less than the number of entries, unless you pass `correction=0`": lambda: (
            [tensor([1.0, 3.0]).var().item(), tensor([1.0, 3.0]).var(correction=0).item()] == [2, 1]
        ),
        "`x ^ y` works on the bits of ints, as `bitwise_xor` does": lambda: (ints(6) ^ ints(3)).item() == 5,
    },
    "07_vectorise": {
        "0 times NaN is NaN, and so is 0 times infinity": lambda: (
            (tensor([float("nan"), float("inf")]) * 0).isnan().all()
        ),
        "the `median` it reports is their mean": lambda: (
            len((took := Timer("1 + 1").timeit(3)).times) == 1 and took.median == took.mean
        ),
        "`setup` runs once before the warm-up and once before the timed runs": lambda: (
            len(after([], lambda runs: Timer("1", setup="runs.append(1)", globals={"runs": runs}).timeit(3))) == 2
        ),
    },
    "08_in_place": {
        "there is `a.add_(b)` but not `torch.add_`": lambda: not hasattr(torch, "add_") and hasattr(torch, "zero_"),
        "If the shape differs, `out=` resizes c and warns": lambda: warned(lambda: torch.mul(ones(2), 2, out=ones(3))),
        "if an input requires a gradient": lambda: raised(lambda: torch.sin(ones(2, requires_grad=True), out=ones(2))),
        "`a.detach()` shares memory with a": lambda: after(zeros(2), lambda a: a.detach().fill_(1)).sum() == 2,
    },
    "09_numpy": {
        "NumPy has no such dtype; `t.numpy()` raises": lambda: raised(
            lambda: ones(2, dtype=torch.bfloat16).numpy(), TypeError
        ),
        "shared, since PyTorch 2.3": lambda: torch.from_numpy(np.zeros(2, np.uint16)).dtype is torch.uint16,
        "PyTorch has none; `torch.from_numpy` raises": lambda: raised(
            lambda: torch.from_numpy(np.zeros(2)[::-1]), ValueError
        ),
        "`t.numpy()` raises; call `.detach()` first": lambda: raised(lambda: ones(2, requires_grad=True).numpy()),
        "it copies a 0-dim array even with `copy=False`": lambda: (
            after(np.array(3.0), lambda a: torch.asarray(a, copy=False).zero_()) == 3
        ),
        "only marked as conjugated; `t.numpy()` raises": lambda: raised(
            lambda: ones(2, dtype=torch.complex64).conj().numpy()
        ),
    },
    "10_linalg": {
        "has determinant 1e-30": lambda: 0.9e-30 < (0.001 * eye(10).double()).det() < 1.1e-30,
        "b of shape (2, 3) means two vectors": lambda: linalg.solve(eye(3).expand(2, 3, 3), ones(2, 3)).shape == (2, 3),
        "which is a RuntimeError": lambda: issubclass(vars(torch.linalg)["LinAlgError"], RuntimeError),
        "do not convert integers": lambda: raised(lambda: linalg.solve(eye(2).long(), ones(2).long())),
        "`A @ inv(A)` is the identity up to rounding": lambda: (
            (A := eye(3) + ones(2, 3, 3)) is not None
            and torch.allclose(A @ linalg.inv(A), eye(3).expand(2, 3, 3), atol=1e-5)
        ),
        "finds the X whose `torch.tensordot(A, X, X.dim())` is B": lambda: (
            (A := eye(6).view(2, 3, 2, 3)) is not None
            and torch.allclose(torch.tensordot(A, linalg.tensorsolve(A, ones(2, 3)), 2), ones(2, 3))
        ),
        "`torch.linalg.cross(b, a)` is minus `cross(a, b)`": lambda: (
            linalg.cross(eye(3)[0], eye(3)[1]).tolist() == [0, 0, 1]
            and linalg.cross(eye(3)[1], eye(3)[0]).tolist() == [0, 0, -1]
        ),
    },
    "11_devices": {
        '`torch.device("cuda")` and `torch.device("cuda:0")` are not equal': lambda: (
            torch.device("cuda") != torch.device("cuda:0")
        ),
        '"cpu" is copied by `.to("cpu:0")`': lambda: after(zeros(2), lambda t: t.to("cpu:0").fill_(1)).sum() == 0,
        "`.to` returns t itself": lambda: (t := zeros(2)).to("cpu") is t is t.cpu(),
    },
    "12_gradients": {
        "The gradient of x² y² at (3, 2) is (24, 36)": lambda: (
            torch.autograd.functional.jacobian(lambda x, y: x**2 * y**2, (tensor(3.0), tensor(2.0))) == (24, 36)
        ),
        "floating-point and complex dtypes only": lambda: raised(lambda: ints(1).requires_grad_()),
    },
}
"""For each page, what stands on it, and a call that is true if it holds."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_examples_of_pages_run(page: Path) -> None:
    """The lines after `>>>` on a module's page print what the page shows."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fenced = re.findall(r"^```\n(>>> .*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        known = {"torch": torch, "np": np}
        examples = doctest.DocTestParser().get_doctest("\n".join(fenced), known, page.parent.name, str(page), 0)
        assert doctest.DocTestRunner().run(examples).failed == 0


@pytest.mark.parametrize("module", FACTS)
def test_facts_of_pages_hold(module: str) -> None:
    """Each fact of the list stands on its page, and the installed PyTorch agrees."""
    page = " ".join((ROOT / "exercises" / module / "README.md").read_text(encoding="utf-8").split())
    assert [fact for fact in FACTS[module] if fact not in page] == []
    assert [fact for fact, holds in FACTS[module].items() if not holds()] == []


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


def test_drill_has_both_answers() -> None:
    """Each line of the drill runs, and yes is as good a guess as no."""
    drill = read_drill(load_course(ROOT), None)
    answers = [answer(drill, number)[0] for number in range(len(drill.rounds))]
    assert len(answers) >= 30
    assert 0.4 < sum(answers) / len(answers) < 0.6
