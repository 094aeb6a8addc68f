"""The time that a comparison may take."""

from __future__ import annotations

from grader.remote.budget import Budget


def test_what_is_left_out_does_not_count() -> None:
    """The budget is over when that many seconds went by besides those that are left out."""
    now = [100.0]
    budget = Budget(20.0, lambda: now[0])
    now[0] += 50.0
    assert budget.is_over()
    budget.leave_out(31.0)
    assert not budget.is_over()
    now[0] += 2.0
    assert budget.is_over()
