"""Programs that nobody prepared, run with a simulated CUDA."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from accelerator.modes import in_mode

from grader import accelerator
from grader.accelerator.sim.gpus import NAMES, spec_of
from grader.accelerator.timeline import Span
from grader.accelerator.tools.launcher import main
from grader.accelerator.tools.line_costs import Ledger

pytestmark = pytest.mark.lane

PROGRAM = """\
import sys, time
from time import perf_counter
from torch import cuda, ones
assert __name__ == "__main__"
print(sys.argv[1:])
start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
before = time.time(), perf_counter(), time.monotonic()
start.record()
x = ones(1000, 1000)
y = x.to("cuda")
z = y @ y
z.sum().item()
end.record()
cuda.synchronize()
after = time.time(), perf_counter(), time.monotonic()
print(*[f"{b - a:.6f}" for a, b in zip(before, after)], f"{start.elapsed_time(end) / 1e3:.6f}")
"""


def run(folder: Path, program: str, *options: str) -> tuple[int, str, str]:
    """Run a program in this process: its status, what it printed, and what was told of it."""
    script = folder / "program.py"
    script.write_text(program, encoding="utf-8")
    out, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
        status = main([*options, str(script)])
    return status, out.getvalue(), told.getvalue()


def test_the_command(tmp_path: Path) -> None:
    """`python -m grader.accelerator` runs a script, names imported from torch included, and sums up its costs."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    options = ["--virtual-time", "--spec", "a100", "--trace", "trace.json"]
    command = [sys.executable, "-m", "grader.accelerator", *options, "program.py", "--lr", "3"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, encoding="utf-8")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "['--lr', '3']"), done.stderr
    assert "-- NVIDIA A100-SXM4-40GB, simulated\nlaunches          2\nhost to device    1 copy, 3.81 MiB" in done.stderr
    assert "program.py:10 y = x.to(" in done.stderr
    assert json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]


@in_mode("off")
def test_clocks_agree(tmp_path: Path) -> None:
    """All clocks that a program reads, and events, tell the same virtual time."""
    status, out, told = run(tmp_path, PROGRAM, "--virtual-time")
    seconds = [float(word) for word in out.splitlines()[1].split()]
    # 4 MB written on the host, moved to the device, and 2 * 1000 ** 3 operations there.
    assert status == 0
    assert seconds == pytest.approx([0.0002 + 0.000677 + 0.0002] * 4, abs=5e-5)
    assert max(seconds) - min(seconds) <= 2e-6
    assert re.search(r"^waits +3, copy 1, item 1, synchronize 1$", told, re.MULTILINE)
    assert re.search(r"^device 0 +busy 8\d\d us, idle \d+ us, peak 7.63 MiB$", told, re.MULTILINE)


@pytest.mark.parametrize(
    ("program", "status", "said"),
    [
        ("import sys; sys.exit(3)", 3, ""),
        ("raise SystemExit('no data')", 1, "no data\n"),
        ("raise KeyboardInterrupt", 130, "KeyboardInterrupt\n"),
        ("def f():\n    raise ValueError(1)\nf()", 1, "line 2, in f\n    raise ValueError(1)\nValueError: 1\n"),
    ],
)
@in_mode("off")
def test_how_programs_end(tmp_path: Path, program: str, status: int, said: str) -> None:
    """The status is the program's; its traceback has its own frames alone; what it cost is told all the same."""
    found, _, told = run(tmp_path, program)
    assert (found, said in told, "launcher.py" in told, "launches          0" in told) == (status, True, False, True)


@in_mode("off")
def test_a_failure_that_nobody_waited_for(tmp_path: Path) -> None:
    """A program that ends before it could hear of a failed kernel is told of it."""
    lines = "import torch", "x = torch.ones(3).cuda()", "x[torch.tensor([9]).cuda()]"
    status, _, told = run(tmp_path, "\n".join(lines))
    assert status == 0
    assert "a kernel failed, and nothing waited for it: " in told
    assert "index out of bounds" in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--spec", "a1000", "x.py"], "no GPU of the name 'a1000'; did you mean a100? there are t4, v100, a100"),
        (["nowhere.py"], "nowhere.py: No such file or directory"),
        (["--trace", "no/folder/t.json", "x.py"], "no/folder/t.json: No such file or directory"),
        (["broken.py"], "SyntaxError: "),
    ],
)
def test_what_cannot_be_run(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told before anything runs, with the status 2."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.py").write_text("raise AssertionError", encoding="utf-8")
    (tmp_path / "broken.py").write_text("x = (", encoding="utf-8")
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_real_gpus(name: str) -> None:
    """Half precision is no slower than float32, nor that than float64; names are found however they are written."""
    spec = spec_of(name)
    assert spec.double <= 1 <= spec.tf32 <= spec.half
    assert spec_of(name.upper().replace("-", " ")) == spec
    assert spec.rate_factor(torch.float16, "mm") * spec.flops > 40e12


def test_how_long_a_device_had_work() -> None:
    """What overlaps counts once, in whatever order it comes."""
    ledger = Ledger(Path("/nowhere"))
    for start, end, now in ((0.0, 2.0, 0.0), (5.0, 6.0, 0.5), (1.0, 3.0, 1.0), (6.0, 7.0, 4.0), (8.0, 9.0, 8.0)):
        ledger.add_span(Span("mm", "0", start, end), now)
    assert (ledger.busy_seconds(0), ledger.busy_seconds(1)) == (6.0, 0.0)


@in_mode("cuda")
def test_costs_of_lines() -> None:
    """A line pays for the work it gives to the device, for its launches, and for its waits."""
    machine = accelerator.the_machine()
    ledger = Ledger(Path(__file__).parent)
    machine.clock.on_span = ledger.add_span
    first = sys._getframe().f_lineno + 1
    x = torch.ones(1000, 1000, device="cuda")
    y = x @ x
    y[0, 0].item()
    made, product, item = (ledger.lines[__file__, first + more] for more in range(3))
    assert (made.host, product.host, item.host) == pytest.approx((5e-6, 5e-6, 5e-6))
    assert (product.device, product.waits) == pytest.approx((2e-4, 0.0))
    assert item.waits == pytest.approx(made.device + product.device + 1e-5 - 1e-5, rel=0.1)
    assert [line[1] - first for line, _ in ledger.slowest(2)] == [2, 1]
