import torch

from grader.check import (
    after_call,
    assert_costs_at_most,
    assert_no_new_storage,
    assert_peak_memory_ratio,
    assert_true,
    assert_values,
    check,
)

SECRET = "CANARY_CHECK"


def table(rng, n):
    return torch.ones(n, n // 2), torch.randint(0, n // 2, (n,), generator=rng)


@check("C1", share=2, try_this="t = torch.ones(3); scale_(t, 2.0) is t")
def check_scaled(student, rng):
    """Random numbers, where they lie"""
    t, factor = rng.normal(9), float(rng.integer(2, 9))
    scaled = t * factor
    assert_true(student.scale_(t, factor) is t, "the result is not t")
    assert_values(after_call(t), scaled)


@check("C2", category="memory", share=2, try_this="look for an operation without an underscore")
def check_in_place(student, reference, rng):
    """No second tensor"""
    assert_no_new_storage(student.scale_, rng.normal(50), 3.0)
    assert_peak_memory_ratio(
        student.scale_, reference.scale_, lambda n: (torch.ones(n), 0.5), size=15_000_000, at_most=1
    )


@check("C3", share=2, try_this="pick(torch.rand(3, 2), torch.tensor([0, 1, 1]))")
def check_picked(student, rng):
    """Random rows"""
    scores, labels = rng.normal(6, 4), torch.randint(0, 4, (6,), generator=rng)
    assert_values(student.pick(scores, labels), scores[torch.arange(6), labels])


@check("C4", category="memory", share=2, try_this="look for a line whose result has the shape of scores")
def check_no_table(student, reference, rng):
    """No table"""
    assert_costs_at_most(student.pick, table(rng, 300), bytes=300 * 100)
    assert_peak_memory_ratio(student.pick, reference.pick, lambda n: table(rng, n), size=8_000, at_most=30)
