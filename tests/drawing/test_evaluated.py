"""Lines about tensors that a worker runs, and its answer."""

from __future__ import annotations

import pytest

from grader.drawing.evaluated import read_evaluated_lines, run_and_print
from grader.worker.plain_probes import run_program


def test_many_long_values_fit_into_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    """A worker's answer is cut after 10,000 characters: with eight full tensors it has fewer values, and is whole."""
    run_and_print("\n".join(f"x{number} = torch.randn(10, 10, dtype=torch.complex64)" for number in range(8)))
    printed = capsys.readouterr().out
    found = read_evaluated_lines(printed)
    assert len(printed) < 9000
    assert [one.name for one in found.tensors] == [f"x{number}" for number in range(8)]
    assert all(one.shape == (10, 10) and one.values for one in found.tensors)


def test_a_line_that_ends_python_is_an_error_of_that_line(capsys: pytest.CaptureFixture[str]) -> None:
    """`exit()` in a line to draw or to try ends the lines, and what came before is shown."""
    run_and_print("x = torch.ones(2)\nraise SystemExit(3)")
    found = read_evaluated_lines(capsys.readouterr().out)
    assert (found.line, found.error, [one.name for one in found.tensors]) == (2, "SystemExit: 3", ["x"])
    assert run_program("print(1)\nraise SystemExit(3)").startswith("1\nTraceback (most recent call last):\n")


LINES = """x = torch.zeros(3, 4)

for row in range(3):
    x[row] = row  # as many as it likes

def half(t):
    return t[:, ::2]

half(x)
y = (
    x.t()
)
"""


def test_statements_of_several_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Loops, functions and parentheses are run as in a file; an expression has its source as its name."""
    run_and_print(LINES)
    found = read_evaluated_lines(capsys.readouterr().out)
    assert (found.error, [one.name for one in found.tensors]) == ("", ["x", "half(x)", "y"])
    assert found.tensors[0].values[4] == "1."


@pytest.mark.parametrize(
    ("last", "line", "said"),
    [
        ("x + half(x)", 13, "Broadcasting aligns shapes at the right"),
        ("half(x[0])", 13, "IndexError: too many indices for tensor of dimension 1"),
        ("z = x[", 13, "SyntaxError: '[' was never closed"),
    ],
)
def test_the_line_is_named_that_raises(last: str, line: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What came before is drawn."""
    run_and_print(f"{LINES}{last}\nw = 1")
    found = read_evaluated_lines(capsys.readouterr().out)
    assert (found.line, [one.name for one in found.tensors]) == (line, ["x", "half(x)", "y"])
    assert said in found.error
