"""A loop that is hidden from both counts is betrayed by its CPU time, and no answer that merely works is refused."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
import torch
from support import Function

from grader.check.costs import no_loop, same_count
from grader.model.endings import CheckFailed
from grader.remote.handle import side_of
from grader.remote.student import RemoteFunction

REFERENCE = "def total(x): return x.square().sum()"
SMALL, LARGE = (torch.arange(3000.0),), (torch.arange(30_000.0),)

_HIDDEN = {
    "modes switched off": "with _disable_current_modes(), torch._C.DisableTorchFunction():",
    "stacks emptied": "with Emptied():",
}
_LOOP = """
import torch.utils._python_dispatch
from torch.utils._python_dispatch import _disable_current_modes

class Emptied:
    def __enter__(self):
        self.modes = []
        while torch._C._len_torch_dispatch_stack():
            self.modes.append(torch.utils._python_dispatch._pop_mode())
        self.functions = []
        while torch._C._len_torch_function_stack():
            self.functions.append(torch._C._pop_torch_function_stack())

    def __exit__(self, *_):
        for mode in reversed(self.modes):
            torch.utils._python_dispatch._push_mode(mode)
        for mode in reversed(self.functions):
            torch._C._push_on_torch_function_stack(mode)

def total(x):
    HIDDEN
        result = x.new_zeros(())
        for value in x.unbind():
            result = result + value * value
        return result
"""


def judged(function: Function, text: str) -> RemoteFunction:
    """A function beside a reference."""
    total = function(text)
    side_of(total).reference = side_of(function(REFERENCE, owner="the reference's"))
    return total


@pytest.mark.parametrize("name", _HIDDEN)
def test_hidden_loops_take_time(function: Function, name: str) -> None:
    """Whatever way the hooks are switched off by, the loop shows."""
    total = judged(function, _LOOP.replace("HIDDEN", _HIDDEN[name]))
    for judge in (no_loop, lambda *args: same_count(*args, of="ops")):
        with pytest.raises(CheckFailed, match="takes far more time for a large input than its operations") as failed:
            judge(total, SMALL, LARGE)
        assert "ms of CPU time, its 0 operations explain" in failed.value.story


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def total(x): return x.sort().values.square().sum()", id="a sort"),
        pytest.param("def total(x):\n    for _ in range(300): y = x.square()\n    return y.sum()", id="300 operations"),
        pytest.param("def total(x): return torch.cdist(x[:600, None], x[:600, None]).sum()", id="all pairs"),
        pytest.param("def total(x): return x.to(torch.complex128).pow(1.5).sum().abs()", id="slow arithmetic"),
        pytest.param("import time\ndef total(x):\n    time.sleep(0.2)\n    return x.sum()", id="sleep"),
    ],
)
def test_slow_answers_are_believed(function: Function, text: str) -> None:
    """What an answer takes that runs as many operations for any input is its own affair; speed is for other checks."""
    no_loop(judged(function, text), SMALL, LARGE)


def test_a_doubt_changes_no_input(function: Function) -> None:
    """A check's later inputs are the same whether times raise a doubt or not: how often is asked then is not heard."""
    heard: list[list[bool]] = []
    for text in (REFERENCE, _LOOP.replace("HIDDEN", _HIDDEN["stacks emptied"])):
        total = judged(function, text)
        reference = side_of(total).reference
        assert reference is not None
        asked: list[bool] = []
        heard.append(asked)

        def leave(learns: bool, asked: list[bool] = asked) -> Callable[[], None]:
            asked.append(learns)
            return lambda: None

        side_of(total).leave = reference.leave = leave
        with suppress(CheckFailed):
            no_loop(total, SMALL, LARGE)
    assert [asked.count(True) for asked in heard] == [2, 2]
    assert len(heard[1]) > len(heard[0])


def test_without_a_reference_counts_stand_alone(function: Function) -> None:
    """Nobody is judged by time where there is nothing to compare with."""
    text = _LOOP.replace("HIDDEN", _HIDDEN["stacks emptied"])
    no_loop(function(text), SMALL, LARGE)
    total = judged(function, text)
    side_of(total).reference = side_of(function("def other(x): return x", owner="the reference's"))
    no_loop(total, SMALL, LARGE)
