import pytest
import torch

from grader.check import (
    allclose,
    assert_costs_at_most,
    assert_no_loop,
    assert_shape,
    assert_true,
    assert_values,
    check,
)

BOTH = pytest.mark.parametrize("name", ["pairwise", "pairwise_lean"])


@check("C1", share=1)
@BOTH
def check_stations(student, name):
    """Three stations and four houses"""
    stations = torch.tensor([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    houses = torch.tensor([[3.0, 4.0], [-5.0, 12.0], [3.0, 1.0], [0.0, 0.0]])
    asked = torch.tensor([[5.0, 13.0, 3.1622777, 0.0], [4.0, 14.4222051, 1.0, 3.0], [3.0, 9.4339811, 4.2426407, 4.0]])
    assert_values(getattr(student, name)(stations, houses), asked, rtol=1e-3, atol=1e-3)


@check("C2", share=1)
def check_at_home(student):
    """A house that stands where a station stands"""
    places = torch.tensor([[0.1, 0.7, -0.3], [0.9, -0.2, 0.6], [-0.5, 0.3, 0.8]])
    for name in ("pairwise", "pairwise_lean"):
        table = getattr(student, name)(places, places.clone())
        assert_shape(table, (3, 3), f"the result of `{name}`")
        own = table.diagonal().tolist()
        text = f"`{name}`: equal points are not 0 apart"
        assert_true(all(0 <= far <= 1e-6 for far in own), text, f"{text}: their distances are {own}")


@check("C3", share=1)
@BOTH
def check_on_a_map(student, name):
    """As far apart when all points move by 10,000"""
    function = getattr(student, name)
    places = torch.arange(60.0).reshape(30, 2) % 7
    here, there = function(places, places + 0), function(places + 10_000, places + 10_000)
    assert_true(
        allclose(there, here, rtol=1e-3, atol=1e-3), f"`{name}`: the distances change if all points move by 10,000"
    )


@check("C4", category="performance", share=1)
def check_no_loop(student):
    """As many operations for 20 stations and 25 houses as for 2 and 3"""
    few = torch.arange(4.0).reshape(2, 2), torch.arange(6.0).reshape(3, 2) + 0.5
    many = torch.arange(40.0).reshape(20, 2), torch.arange(50.0).reshape(25, 2) + 0.5
    assert_no_loop(student.pairwise, few, many)
    assert_no_loop(student.pairwise_lean, few, many)


@check("C5", category="memory", share=1)
def check_no_table(student):
    """Little memory for 20 stations, 30 houses and 16 coordinates"""
    a, b = torch.arange(320.0).reshape(20, 16) % 7, torch.arange(480.0).reshape(30, 16) % 5
    assert_costs_at_most(student.pairwise_lean, (a, b), peak=8 * 20 * 30 * 4)
