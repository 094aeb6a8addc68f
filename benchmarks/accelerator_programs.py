"""Programs run on the CPU, and again with a simulated CUDA: whether they end, and how far their losses are apart.

python benchmarks/accelerator_programs.py [PROGRAM ARGUMENT ...]

Without arguments those in `benchmarks/programs` are run, and the rows of the table in docs/accelerator.md come out.
Another program is run as it is given; it has to choose its device by `torch.cuda.is_available()`, or `{device}` in an
argument stands for it. What is compared are the numbers that it prints after the word "loss".
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

_PROGRAMS = Path(__file__).parent / "programs"
_LOSS = re.compile(r"\bloss\b[ =:]*([-+0-9.e]+)")


def run(program: list[str], device: str) -> subprocess.CompletedProcess[str]:
    """A program on a device."""
    launcher = ["-m", "grader.accelerator", "--devices", "2"] if device == "cuda" else []
    command = [sys.executable, "-W", "ignore", *launcher, *(word.replace("{device}", device) for word in program)]
    # One thread: the same sums in the same order, however busy the machine is.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8", env=environment)


def row(program: list[str]) -> str:
    """A row of the table: the program, how many losses, how far apart, launches, copies and waits."""
    there, here = run(program, "cuda"), run(program, "cpu")
    name = " ".join([Path(program[0]).name, *program[1:]])
    for done, where in ((here, "the CPU"), (there, "the simulated device")):
        if done.returncode:
            raise SystemExit(f"{name} fails on {where}:\n{done.stderr}")
    mine, asked = (list(map(float, _LOSS.findall(done.stdout))) for done in (there, here))
    if not asked or len(mine) != len(asked):
        raise SystemExit(f"{name}: {len(mine)} losses on the device, {len(asked)} on the CPU")
    apart = max(abs(a - b) / max(abs(b), 1e-12) for a, b in zip(mine, asked, strict=True))
    counts = [_told(rf"^{word} +([\d,]*\d)", there.stderr) for word in ("launches", "host to device", "waits")]
    return f"| {name} | {len(asked)} | {apart:.1e} | {' | '.join(counts)} |"


def _told(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found.group(1) if found else "0"


def main() -> None:
    """Print the table."""
    print("| program | losses | apart | launches | copies to the device | waits |")
    print("|---|---|---|---|---|---|")
    programs = [sys.argv[1:]] if sys.argv[1:] else [[str(path)] for path in sorted(_PROGRAMS.glob("*.py"))]
    for program in programs:
        print(row(program), flush=True)


if __name__ == "__main__":
    main()
