"""`grade trace`: what a device exercise did, from checks that students see, from examples, from own lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.accelerator.timeline import trace_events
from grader.cli import main
from grader.model.picture import Moment
from grader.student.games.tracing import TracedRun, spans_of

SHOWN = """
import torch
from grader.check import check, assert_costs_at_most


@check("C1", device="sim")
def check_waits(student, accelerator):
    '''Waits for none'''
    assert_costs_at_most(student.double, (accelerator.put(torch.ones(2, 3)),), syncs=0)
"""
HIDDEN = """
import torch
from grader.check import check, assert_values


@check("C1", device="sim", try_this='double(torch.ones(5, device="sim"))')
def check_many(student, accelerator):
    '''A hidden number of elements'''
    assert_values(student.double(accelerator.put(torch.ones(77))), 2 * torch.ones(77))
"""
MINE = (
    "import torch\n\n\ndef double(x):\n    return torch.tensor([2 * v for v in x.flatten().tolist()]).view(x.shape)\n"
)


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course with a check of devices that is shown, and one that is hidden."""
    (home / "exercises/01_basics/double/check_double.py").write_text(SHOWN)
    (home / "solutions/01_basics/double/check_double.py").write_text(HIDDEN)
    (home / "exercises/01_basics/double/double.py").write_text(MINE)
    monkeypatch.chdir(home)
    return home


def test_checks_and_examples_are_traced(home: Path) -> None:
    """The shown check and the example of the hidden one run; of the hidden input there is nothing."""
    ran = CliRunner().invoke(main, ["trace", "double"])
    assert ran.exit_code == 0, ran.output
    trace = json.loads((home / "double.trace.json").read_text())["traceEvents"]
    runs = [row["name"] for row in trace if row.get("cat") == "run"]
    assert runs == ["Waits for none", 'double(torch.ones(5, device="sim"))']
    copies = [row["args"]["bytes"] for row in trace if row["name"] == "device to host"]
    assert copies == [24, 20]
    assert [row["args"]["shapes"] for row in trace if row["name"] == "fill_"] in ([], [[[5]]])
    assert "77" not in json.dumps([row.get("args") for row in trace])
    assert "host: wait for copy" in ran.output


def test_own_lines_are_traced(home: Path) -> None:
    """Lines of the student's run in place of the checks; what they raise is told, and what came before is drawn."""
    code = 'y = double(torch.ones(9, device="sim")); y.nothing'
    ran = CliRunner().invoke(main, ["trace", "double", "--code", code, "--out", "t.json"])
    assert ran.exit_code == 0, ran.output
    assert "raised AttributeError" in ran.output
    trace = json.loads((home / "t.json").read_text())["traceEvents"]
    assert [row["args"]["bytes"] for row in trace if row["name"] == "device to host"] == [36]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["double", "--code", "1 +"], "--code is not Python"),
        (["total"], "total has no check that uses a device"),
        (["doubel"], "did you mean"),
    ],
)
def test_what_cannot_be_traced(home: Path, arguments: list[str], told: str) -> None:
    """An exercise without devices, a wrong name: each is told in a sentence."""
    ran = CliRunner().invoke(main, ["trace", *arguments])
    assert (ran.exit_code, told in ran.output) == (2, True)


MOMENTS = (
    Moment("launch host to device", "host", 5e-6, 1e-5),
    Moment("host to device", "0", 1e-5, 4e-5, 0, "host to device", 4000),
    Moment("wait for copy", "host", 1e-5, 4e-5),
    Moment("mm", "0", 4e-5, 9e-5, 0, "kernels", 1200, ((2, 3), (3, 4))),
    Moment("add", "0", 5e-5, 6e-5, 2, "kernels"),
)


def test_runs_follow_each_other() -> None:
    """Each that did anything is a slice of its own; those of kernels have shapes and bytes."""
    events = list(trace_events(spans_of([TracedRun("one", MOMENTS), TracedRun("none", ()), TracedRun("two", MOMENTS)])))
    assert [event["name"] for event in events if event.get("cat") == "run"] == ["one", "two"]
    found = next(event for event in events if event["name"] == "mm")
    assert (found["ts"], found["dur"], found["cat"]) == (35.0, 50.0, "kernels")
    assert found["args"] == {"shapes": [[2, 3], [3, 4]], "bytes": 1200}
