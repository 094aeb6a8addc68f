"""Lines about tensors that a worker runs, and its answer."""

from __future__ import annotations

import pytest

from grader.drawing.evaluated import answer_of, show
from grader.worker.plain_probes import run_program


def test_many_long_values_fit_into_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    """A worker's answer is cut after 10,000 characters: with eight full tensors it has fewer values, and is whole."""
    show([f"x{number} = torch.randn(10, 10, dtype=torch.complex64)" for number in range(8)])
    printed = capsys.readouterr().out
    found = answer_of(printed)
    assert len(printed) < 9000
    assert [one.name for one in found.tensors] == [f"x{number}" for number in range(8)]
    assert all(one.shape == (10, 10) and one.values for one in found.tensors)


def test_a_line_that_ends_python_is_an_error_of_that_line(capsys: pytest.CaptureFixture[str]) -> None:
    """`exit()` in a line to draw or to try ends the lines, and what came before is shown."""
    show(["x = torch.ones(2)", "raise SystemExit(3)"])
    found = answer_of(capsys.readouterr().out)
    assert (found.line, found.error, [one.name for one in found.tensors]) == (2, "SystemExit: 3", ["x"])
    assert run_program("print(1)\nraise SystemExit(3)").startswith("1\nTraceback (most recent call last):\n")
