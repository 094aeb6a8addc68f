"""Faults are planted one at a time, and nothing but their place changes."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from grader.student.games.faults import PlantedFault, faults_of, shuffle_faults

TEXT = '''"""Töne."""
import torch


def f(x,  y, mask):   # odd   spaces stay
    """Not x.clone() here."""
    z = x.sum(dim=1,
              keepdim=True)  # a comment
    z.add_(torch.zeros(3, 4, dtype=torch.float64))
    z *= max(len(x), 1)
    é = torch.where(mask, x, y) @ z
    return é.masked_fill(~mask, 0)[x > 1]
'''


def planted(told: str) -> list[str]:
    return [fault.source for fault in faults_of(TEXT) if fault.what == told]


@pytest.mark.parametrize(
    ("told", "old", "new"),
    [
        ("`keepdim=` is missing", "dim=1,\n              keepdim=True)", "dim=1)"),
        ("it works along another dim", "dim=1", "dim=0"),
        ("`dtype=` is missing", ", dtype=torch.float64", ""),
        ("it uses another dtype", "torch.float64", "torch.float32"),
        ("two dims are swapped", "zeros(3, 4", "zeros(4, 3"),
        ("`add` is not in place; you had `add_`", "add_(", "add("),
        ("the operands of a matrix product are swapped", "torch.where(mask, x, y) @ z", "z @ torch.where(mask, x, y)"),
        ("a comparison is reversed", "x > 1", "x <= 1"),
        ("`+=` stands where you had `*=`", "z *= max", "z += max"),
        ("`min` stands where you had `max`", "max(len(x)", "min(len(x)"),
        ("it returns a copy", "[x > 1]", "[x > 1].clone()"),
    ],
)
def test_one_place_changes(told: str, old: str, new: str) -> None:
    """Comments, spaces, letters with accents and docstrings stay; the fault alone is new."""
    assert TEXT.replace(old, new, 1) in planted(told)


def test_masks_are_turned_round_in_three_ways() -> None:
    """A `~` is lost, another is added, the branches of `where` are swapped."""
    ways = [("~mask", "mask"), ("~mask", "~(~mask)"), ("mask, x, y", "mask, y, x")]
    assert sorted(planted("a mask is inverted")) == sorted(TEXT.replace(old, new, 1) for old, new in ways)


def test_every_fault_is_python_and_is_one() -> None:
    """Each is another text that compiles, and its line is the one that changed; without functions there is none."""
    assert faults_of("x = 1 + 2\n") == []
    found = faults_of(TEXT)
    assert len({fault.source for fault in found}) == len(found) > 10
    for fault in found:
        compile(fault.source, "fault", "exec")
        line = fault.line - 1
        assert fault.source.split("\n")[line] != TEXT.split("\n")[line]
        assert fault.source.split("\n")[:line] == TEXT.split("\n")[:line]


LOOKALIKES = """
def f(x, y):
    if x.dim() > 1:
        raise ValueError(f"dim=0 keepdim=True {x.sum(0)} < y")  # a - b, x.T
    text = "torch.float64 ~mask x.clone() a + b"
    return (  # x * y
        (x)  # a + comment
        - y
    )
"""


def test_what_only_looks_like_code_is_left_alone() -> None:
    """Comments, messages and f-strings are no place for a fault; a sign is found behind a comment."""
    found = {fault.what: fault.source for fault in faults_of(LOOKALIKES)}
    assert set(found) == {"it returns a copy", "a comparison is reversed", "`+` stands where you had `-`"}
    assert found["`+` stands where you had `-`"] == LOOKALIKES.replace("- y", "+ y")


def test_line_ends_of_another_system() -> None:
    """A file from Windows, or from a very old Mac, has the same faults."""
    for end in ("\r\n", "\r"):
        assert [fault.what for fault in faults_of(TEXT.replace("\n", end))] == [fault.what for fault in faults_of(TEXT)]


def test_kinds_alternate() -> None:
    """However many faults of one kind there are, each kind comes as often first, and none twice before all others."""
    faults = [PlantedFault("often", line, str(line)) for line in range(20)] + [
        PlantedFault(what, 1, what) for what in ("rare", "x")
    ]
    first = Counter(shuffle_faults(faults, random.Random(seed))[0].what for seed in range(300))
    assert min(first[what] for what in ("often", "rare", "x")) > 70
    order = [fault.what for fault in shuffle_faults(faults, random.Random(0))]
    assert (set(order[:3]), len(order)) == ({"often", "rare", "x"}, 22)


def test_operands_stay_in_parentheses() -> None:
    """Where a call, a transpose or a `~` goes, what it was of stays one operand."""
    text = "def f(x):\n    return 2 * (x + 1).clone() & ~(x | 3) & (x - 1).T\n"
    found = {fault.what: fault.source for fault in faults_of(text)}
    assert found["`.clone(...)` is missing"] == text.replace(".clone()", "")
    assert found["a mask is inverted"] == text.replace("~", "")
    assert found["a transpose is missing"] == text.replace(".T", "")
