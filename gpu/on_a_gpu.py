"""The same probes, operators, programs and times on a real GPU and on the simulated one, side by side.

    python gpu/on_a_gpu.py --real --into real.json        # where there is a GPU; needs torch and NumPy alone
    python gpu/on_a_gpu.py --sim --into sim.json
    python gpu/on_a_gpu.py --compare real.json sim.json

`--only WORD,WORD` chooses parts: snippets, probes, operators, programs, times. `--jobs N` is the number of processes at
once, `--seconds N` the time for all operators, and `--gpu NAME` the GPU that is imitated. Each probe has a process of
its own, since CUDA cannot be used any more after an assert of the device.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parent
_PARTS = ("snippets", "probes", "operators", "programs", "times")
_LOSS = re.compile(r"\bloss\b[ =:]*([-+0-9.e]+)")


def main() -> None:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--real", action="store_true")
    what.add_argument("--sim", action="store_true")
    what.add_argument("--compare", nargs=2, type=Path)
    what.add_argument("--child", nargs=argparse.REMAINDER)
    parser.add_argument("--only", default=",".join(_PARTS))
    parser.add_argument("--jobs", type=int, default=min(12, os.cpu_count() or 1))
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--gpu", default="h100")
    parser.add_argument("--into", type=Path, default=Path("on_a_gpu.json"))
    asked = parser.parse_args()
    if asked.compare:
        compare(*(json.loads(path.read_text("utf-8")) for path in asked.compare))
    elif asked.child:
        child(*asked.child)
    else:
        for found in collect(asked.gpu if asked.sim else "", asked.only.split(","), asked.jobs, asked.seconds):
            asked.into.write_text(json.dumps(found, indent=0), "utf-8")


def collect(gpu: str, parts: list[str], jobs: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield the results of the parts, each time that one more is done.

    Args:
        gpu: the GPU to imitate; "" for the real one.
        parts: which.
        jobs: how many processes at once.
        seconds: how long operators may take together.
    """
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        begun = time.monotonic()
        found["about"] = _answer(gpu, folder, "about", "all")
        # Times come first, while nothing else runs; snippets alone, since one takes most of the memory.
        for part in ("times", "snippets"):
            if part in parts:
                found[part] = _answer(gpu, folder, part, "all")
                print(f"{time.monotonic() - begun:6.1f} s  {part}", file=sys.stderr, flush=True)
                yield found
        names = _answer("-", folder, "names", "all") if "probes" in parts else []
        if gpu and names:
            _answer(gpu, folder, "forked", ",".join(names))
        waiting = {("probes", name): pool.submit(_answer, gpu, folder, "probe", name) for name in names}
        if "programs" in parts:
            for path in sorted((_HERE / "programs").glob("*.py")):
                waiting["programs", path.name] = pool.submit(_program, gpu, path)
        for (part, name), one in waiting.items():
            found.setdefault(part, {})[name] = one.result()
            print(f"{time.monotonic() - begun:6.1f} s  {part} {name}", file=sys.stderr, flush=True)
        yield found
        if "operators" in parts:
            shards = [pool.submit(_shard, gpu, Path(folder), number, jobs, seconds) for number in range(jobs)]
            found["operators"] = {name: value for one in shards for name, value in one.result().items()}
            print(f"{time.monotonic() - begun:6.1f} s  operators", file=sys.stderr, flush=True)
            yield found


def _environment() -> dict[str, str]:
    paths = [str(_ROOT), str(_HERE), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path), "PYTHONWARNINGS": "ignore"}


def _answer(gpu: str, folder: str, kind: str, name: str) -> Any:
    """Return the result of a child process."""
    path = Path(folder) / f"{kind}-{name[:60]}.json"
    if path.exists():
        return json.loads(path.read_text("utf-8"))
    command = [sys.executable, __file__, "--child", gpu or "real", kind, name, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment(), cwd=_ROOT)
    if path.exists():
        return json.loads(path.read_text("utf-8"))
    return f"died with status {done.returncode}: {done.stderr[-600:]}"


def child(gpu: str, kind: str, name: str, path: str, *more: str) -> None:
    """Do one part in this process, and write its result to a file."""
    sys.path[:0] = [str(_HERE), str(_ROOT)]
    if kind == "forked":
        _forked(gpu, name.split(","), Path(path).parent)
        return
    if gpu not in ("real", "-"):
        import torch

        from grader import accelerator
        from grader.accelerator.sim.gpus import spec_of

        torch.set_num_threads(1)
        accelerator.enable("cuda", indices=1, spec=spec_of(gpu))
    if kind == "operators":
        import operators

        first, step, skip, seconds = more
        operators.write(Path(path), int(first), int(step), skip=int(skip), seconds=float(seconds))
        return
    if kind == "probe":
        signal.alarm(150)
    work: dict[str, Callable[[], Any]] = {
        "names": _names,
        "probe": lambda: _probe(name),
        "snippets": _snippets,
        "about": _about,
        "times": lambda: _times(simulated=gpu != "real"),
    }
    try:
        found = work[kind]()
    except Exception:
        found = "! " + traceback.format_exc()[-500:]
    Path(path).write_text(json.dumps(found), "utf-8")
    sys.stdout.flush()
    os._exit(0)  # a broken device may end a process badly


def _forked(gpu: str, names: list[str], folder: Path) -> None:
    """Run probes of the simulated device in forked processes, which have imported PyTorch already."""
    import probes  # noqa: F401 - children have it, then

    from grader import accelerator

    accelerator.preload()
    for name in names:
        if (process := os.fork()) == 0:
            child(gpu, "probe", name, str(folder / f"probe-{name}.json"))
        os.waitpid(process, 0)


def _names() -> list[str]:
    import probes

    return list(probes.PROBES)


def _probe(name: str) -> Any:
    import probes

    return probes.said(probes.PROBES[name])


def _about() -> Any:
    import torch

    return {"name": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda}


def _times(*, simulated: bool) -> Any:
    import times

    times.SIMULATED = simulated
    if not simulated:
        return times.all_times()
    from grader.accelerator import virtual_time

    with virtual_time():
        return times.all_times()


def _snippets() -> dict[str, str]:
    """Return the output of the tests' snippets, all in one process with one device."""
    import copy
    import doctest
    import gc
    import io
    import pickle

    import numpy as np
    import torch
    import torch.utils.checkpoint

    warnings.simplefilter("ignore")
    text = (_ROOT / "tests/accelerator/snippets.txt").read_text("utf-8")
    known: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "np": np, "copy": copy}
    known |= {"io": io, "gc": gc, "pickle": pickle}
    found = {}
    for snippet in doctest.DocTestParser().get_examples(text):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                exec(compile(snippet.source, "<snippet>", "single"), known)
                told = printed.getvalue()
            except Exception as error:
                told = f"! {type(error).__name__}: {error}"[:300]
        found[f"{snippet.lineno + 1}: {snippet.source.strip()}"] = told
    return found


def _program(gpu: str, path: Path) -> Any:
    """Return the numbers that a program prints, and how it ended."""
    launcher = ["-m", "grader.accelerator", "--spec", gpu] if gpu else []
    done = subprocess.run(
        [sys.executable, *launcher, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env=_environment(),
        cwd=_ROOT,
    )
    return [
        done.returncode,
        [float(one) for one in _LOSS.findall(done.stdout)],
        done.stderr[-300:] if done.returncode else "",
    ]


def _shard(gpu: str, folder: Path, number: int, step: int, seconds: float) -> dict[str, Any]:
    """Run operators in one process after another: if a process dies, another one runs the operators that are left."""
    path = folder / f"operators-{number}.jsonl"
    until = time.monotonic() + seconds
    found: dict[str, Any] = {}
    for _ in range(60):
        command = [sys.executable, __file__, "--child", gpu or "real", "operators", "all", str(path)]
        command += [str(number), str(step), str(len(found)), str(max(until - time.monotonic(), 0.0))]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment(), cwd=_ROOT)
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            name, value = json.loads(line)
            found[name] = value if value is not None else found.get(name, f"died: {done.stderr[-200:]}")
        if done.returncode == 0 or time.monotonic() > until:
            return found
        if not found:
            return {f"shard {number}": done.stderr[-600:]}
    return found


# -- comparison -------------------------------------------------------------------------------------------------------


def compare(real: Any, sim: Any, path: str = "") -> None:
    """Print each place where two results differ: the real one first."""
    if isinstance(real, dict) and isinstance(sim, dict):
        for key in real:
            if key in sim:
                compare(real[key], sim[key], f"{path}/{key}")
            else:
                print(f"{path}/{key}\n    only real: {str(real[key])[:200]}")
        for key in sim:
            if key not in real:
                print(f"{path}/{key}\n    only simulated: {str(sim[key])[:200]}")
    elif isinstance(real, list) and isinstance(sim, list) and len(real) == len(sim):
        for number, (one, other) in enumerate(zip(real, sim, strict=True)):
            compare(one, other, f"{path}/{number}")
    elif not alike(real, sim, path):
        print(f"{path}\n    real: {str(real)[:300]}\n    sim:  {str(sim)[:300]}")


def alike(real: Any, sim: Any, path: str) -> bool:
    """Return whether two plain values agree; numbers may differ by what the order of sums changes."""
    numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in (real, sim))
    if numbers and path.startswith("/times"):
        return False
    if numbers and (isinstance(real, float) or isinstance(sim, float)):
        return bool(abs(real - sim) <= 2e-3 * max(abs(real), abs(sim), 1e-2))
    return bool(real == sim)


if __name__ == "__main__":
    main()
