"""Faults are planted one at a time, and nothing but their place changes."""

from __future__ import annotations

import pytest

from grader.student.games.faults import faults_of

TEXT = '''"""Töne."""
import torch


def f(x,  y, mask):   # odd   spaces stay
    """Not x.clone() here."""
    z = x.sum(dim=1,
              keepdim=True)  # a comment
    z.add_(torch.zeros(3, 4, dtype=torch.float64))
    é = torch.where(mask, x, y) @ z
    return é.masked_fill(~mask, 0)[x > 1]
'''


def planted(told: str) -> list[str]:
    return [fault.source for fault in faults_of(TEXT) if fault.what == told]


@pytest.mark.parametrize(
    ("told", "old", "new"),
    [
        ("`keepdim=` was lost", "dim=1,\n              keepdim=True)", "dim=1)"),
        ("it went along another dim", "dim=1", "dim=0"),
        ("`dtype=` was lost", ", dtype=torch.float64", ""),
        ("a dtype was another one", "torch.float64", "torch.float32"),
        ("two dims were swapped", "zeros(3, 4", "zeros(4, 3"),
        ("`add_` was `add`, which is not in place", "add_(", "add("),
        ("the operands of a product were swapped", "torch.where(mask, x, y) @ z", "z @ torch.where(mask, x, y)"),
        ("a comparison was turned round", "x > 1", "x <= 1"),
        ("a copy was returned", "[x > 1]", "[x > 1].clone()"),
    ],
)
def test_one_place_changes(told: str, old: str, new: str) -> None:
    """Comments, spaces, letters with accents and docstrings stay; the fault alone is new."""
    assert TEXT.replace(old, new, 1) in planted(told)


def test_masks_are_turned_round_in_three_ways() -> None:
    """A `~` is lost, another is added, the branches of `where` are swapped."""
    ways = [("~mask", "mask"), ("~mask", "~(~mask)"), ("mask, x, y", "mask, y, x")]
    assert sorted(planted("a mask was turned round")) == sorted(TEXT.replace(old, new, 1) for old, new in ways)


def test_every_fault_is_python_and_is_one() -> None:
    """Each is another text that compiles, and its line is the one that changed."""
    found = faults_of(TEXT)
    assert len({fault.source for fault in found}) == len(found) > 10
    for fault in found:
        compile(fault.source, "fault", "exec")
        line = fault.line - 1
        assert fault.source.split("\n")[line] != TEXT.split("\n")[line]
        assert fault.source.split("\n")[:line] == TEXT.split("\n")[:line]


def test_a_text_without_functions_has_none() -> None:
    """Where there is nothing to break, there is no fault."""
    assert faults_of("x = 1 + 2\n") == []
