"""Programs run on the CPU, and with a simulated CUDA: whether they end, and how far their losses are apart.

python gpu/accelerator_programs.py [PROGRAM ARGUMENT ...]

Without arguments those in `gpu/programs` are run, and the rows of the table in docs/accelerator.md come out.
Another program is run as it is given; it has to choose its device by `torch.cuda.is_available()`, or `{device}` in an
argument stands for it. What is compared are the numbers that it prints after the word "loss", in three ways: the device
with the CPU, which draw from one stream of random numbers; the device with itself, drawing from a stream of its own as
a GPU does, which must print the same text twice; and that with plain calls in the place of its checkpoints.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from pathlib import Path

from public_programs import Done, run

from grader.accelerator import preload, preload_operations

_PROGRAMS = Path(__file__).parent / "programs"
_LOSS = re.compile(r"\bloss\b[ =:]*([-+0-9.e]+)")


def row(program: str, arguments: list[str]) -> str:
    """Return a row of the table: the program, its losses, how far they are apart, launches, copies and waits."""
    path, name = Path(program).resolve(), " ".join([Path(program).name, *arguments])
    ended = {}
    for device in ("cpu", "cuda", "cuda apart", "cuda again", "cuda plain"):
        ended[device] = run(path.parent, path.name, " ".join(arguments), device)
        if ended[device].returncode:
            raise SystemExit(f"{name} fails on {device}:\n{ended[device].stderr}")
    here, there, separate, again, plain = ended.values()
    repeated = "the same" if separate.stdout == again.stdout else "another"
    counts = [_told(rf"^{word} +([\d,]*\d)", there.stderr) for word in ("launches", "host to device", "waits")]
    apart = [f"{_apart(name, one, other):.1e}" for one, other in ((there, here), (plain, separate))]
    return f"| {name} | {len(_losses(here))} | {apart[0]} | {repeated} | {apart[1]} | {' | '.join(counts)} |"


def _losses(done: Done) -> list[float]:
    return list(map(float, _LOSS.findall(done.stdout)))


def _apart(name: str, one: Done, other: Done) -> float:
    mine, asked = _losses(one), _losses(other)
    if not asked or len(mine) != len(asked):
        raise SystemExit(f"{name}: {len(mine)} losses and {len(asked)}")
    return max(abs(a - b) / max(abs(b), 1e-12) for a, b in zip(mine, asked, strict=True))


def _told(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found.group(1) if found else "0"


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    # One thread, in processes that a program starts, too: the same sums in the same order, however busy the machine is.
    os.environ["OMP_NUM_THREADS"] = "1"
    preload()
    preload_operations()
    print("| program | losses | apart | again | checkpoints | launches | copies to the device | waits |")
    print("|---|---|---|---|---|---|---|---|")
    programs = [sys.argv[1:]] if sys.argv[1:] else [[str(path)] for path in sorted(_PROGRAMS.glob("*.py"))]
    for program, *arguments in programs:
        print(row(program, arguments), flush=True)


if __name__ == "__main__":
    main()
