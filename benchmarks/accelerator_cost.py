"""What the simulated accelerator costs: operators and training steps beside those on the CPU, and turning it on.

python benchmarks/accelerator_cost.py [--against d2f5de22 [--rounds 3]]

With `--against`, builds take turns: single operators, a step of training a narrow transformer, and the programs in
`gpu/programs` that need one device and no other process. What counts is what the device adds to the CPU's time,
in seconds of CPU time with one thread; the counts of each build must be the same.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import runpy
import statistics
import sys
import time
import timeit
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import builds
import click
import torch
from torch import nn

from grader import accelerator

_ROUNDS = 20
_RUNS = 3


def forked(work: Callable[[], object]) -> float:
    """Return the milliseconds of CPU time that a function takes in a forked child."""
    read, write = os.pipe()
    if not (child := os.fork()):
        start = time.process_time()
        work()
        os.write(write, str((time.process_time() - start) * 1e3).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as stream:
        return float(stream.read())


def microseconds(statement: Callable[[], object]) -> float:
    """Return the microseconds of one call, the best of several rounds."""
    return min(timeit.repeat(statement, number=500, repeat=7)) / 500 * 1e6


_SIZES = {"of 4 layers, width 128, 512 tokens": (4, 128, 8), "of 6 layers, width 384, 512 tokens": (6, 384, 8)}
"""Transformers by how many layers they have, how wide they are and how many sequences of 64 tokens are in a batch."""


def step_of(device: str, layers: int, width: int, sequences: int) -> Callable[[], None]:
    """Return a function that takes a step of training a transformer with 256 words."""
    torch.manual_seed(0)
    # Without dropout, which is taken apart on the device.
    block = nn.TransformerEncoderLayer(width, width // 64, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True)
    body = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
    model = nn.Sequential(nn.Embedding(256, width), body, nn.Linear(width, 256)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    words = torch.randint(256, (sequences, 65)).to(device)

    def step() -> None:
        loss = nn.functional.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.item()

    return step


def report_steps() -> None:
    """Time training steps on the CPU and on the device in turn, so that a busy machine slows both; print the times."""
    for name, size in _SIZES.items():
        steps = [step_of(device, *size) for device in ("cpu", "sim")]
        for step in steps:
            step()
        pairs = [[timeit.timeit(step, number=1) for step in steps] for _ in range(9)]
        here, there = (statistics.median(times) for times in zip(*pairs, strict=True))
        ratio = statistics.median(sim / cpu for cpu, sim in pairs)
        print(f"a step {name}: {here * 1e3:.0f} ms on the CPU, {there * 1e3:.0f} ms on the device, {ratio:.2f} times")


_PROGRAMS = ("adversarial", "attention", "autoencoder", "contrastive", "diffusion", "experts", "graph_convolution")
_COUNTS = ("launches", "transfers", "transferred_bytes", "scalars_read", "syncs_for", "peak_bytes")


def cases(device: str) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """Return calls of single operators, on the CPU and on the device, by name."""
    cpu, there = torch.ones(4), torch.ones(4, device=device)
    return {
        "x + 1": (lambda: cpu + 1, lambda: there + 1),
        "x + x": (lambda: cpu + cpu, lambda: there + there),
        "x.add_(1)": (lambda: cpu.add_(1), lambda: there.add_(1)),
        "x.view(2, 2)": (lambda: cpu.view(2, 2), lambda: there.view(2, 2)),
        "x.item()": (cpu[0].item, there[0].item),
        "torch.ones(4)": (lambda: torch.ones(4), lambda: torch.ones(4, device=device)),
        f"x.to({device!r})": (cpu.clone, lambda: cpu.to(device)),
    }


def _costs_of_program(name: str, mode: str) -> tuple[float, object]:
    """Return the seconds of CPU time of a program in a forked child, and what the device counted.

    The program runs several times, and the shortest counts: imports and what is kept from a first call stay out.
    """
    read, write = os.pipe()
    if not (child := os.fork()):
        warnings.simplefilter("ignore")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        accelerator.enable(mode)  # type: ignore[arg-type]
        sys.argv = [name]
        program = str(Path(__file__).parents[1] / "gpu" / "programs" / f"{name}.py")
        taken, found = [], {}
        for run in range(_RUNS):
            torch.manual_seed(0)
            taken.append(_cpu_seconds(functools.partial(runpy.run_path, program, run_name="__main__")))
            if mode == "cuda" and not run:
                found = accelerator.counters()
        os.write(write, json.dumps([min(taken), {key: found[key] for key in _COUNTS if key in found}]).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        seconds, counted = json.load(stream)
    os.waitpid(child, 0)
    return seconds, counted


def measure() -> None:
    """Print as JSON the CPU seconds that this build's device adds to each program, and the device's counters."""
    accelerator.preload()
    accelerator.preload_operations()
    added: dict[str, float] = {}
    counts: dict[str, object] = {}
    for name in _PROGRAMS:
        (here, _), (there, counts[name]) = (_costs_of_program(name, mode) for mode in ("none", "cuda"))
        added[name] = there - here
    accelerator.enable("sim")
    for name, (on_cpu, on_device) in cases("sim").items():
        added[name] = (microseconds(on_device) - microseconds(on_cpu)) * 1e-6
    size = next(iter(_SIZES.values()))
    steps = [step_of(device, *size) for device in ("cpu", "sim")]
    for step in steps:
        step()
    accelerator.reset_counters()
    times = [[_cpu_seconds(step) for step in steps] for _ in range(5)]
    added["a step of training"] = statistics.median(there - here for here, there in times)
    found = accelerator.counters()
    counts["a step of training"] = {key: found[key] for key in _COUNTS}
    print(json.dumps({"added": added, "counts": counts}))


def _cpu_seconds(step: Callable[[], object]) -> float:
    start = time.process_time()
    step()
    return time.process_time() - start


def compare(against: tuple[str, ...], rounds: int) -> None:
    """Measure each build in turn, and print the ratio of this build's added time to each other build's."""
    with builds.opened(against) as found:
        taken: dict[str, list[dict[str, Any]]] = {build.name: [] for build in found}
        for turn in range(rounds):
            for build in reversed(found) if turn % 2 else found:
                command = [sys.executable, str(Path(__file__)), "--measure"]
                done = builds.run(command, environment=build.environment(OMP_NUM_THREADS="1"))
                if done.status:
                    raise click.ClickException(done.text)
                taken[build.name].append(json.loads(done.text.splitlines()[-1]))
        for commit in against:
            for name in taken["this"][0]["added"]:
                pairs = zip(taken["this"], taken[commit], strict=True)
                mine, theirs = zip(*((new["added"][name], old["added"][name]) for new, old in pairs), strict=True)
                one, other = statistics.median(mine), statistics.median(theirs)
                # What a program computes can vary by more than the device adds to it.
                ratio = f"{one / other:.2f} of it" if min(*mine, *theirs) > 0 else "less than what the runs differ by"
                print(f"{name}: adds {one * 1e6:.1f} us here, {other * 1e6:.1f} us in {commit}: {ratio}")
            same = taken["this"][0]["counts"] == taken[commit][0]["counts"]
            print(f"counts: {'the same' if same else 'DIFFERENT'}")
            for name, counted in taken["this"][0]["counts"].items():
                if counted != (theirs := taken[commit][0]["counts"][name]):
                    print(f"  {name}: {counted} here, {theirs}")


@click.command()
@builds.against
@builds.rounds
@click.option("--measure", "only_measure", is_flag=True, help="Print what this build costs as JSON.")
def main(against: tuple[str, ...], rounds: int, only_measure: bool) -> None:
    """Print the time that the simulated accelerator costs, in this build or compared with others."""
    if only_measure:
        measure()
    elif against:
        compare(against, rounds)
    else:
        report()


def report() -> None:
    """Print the times of enabling this build's device, and of operators and training steps on it and on the CPU."""
    accelerator.preload()
    accelerator.preload_operations()
    gc.collect()
    gc.freeze()
    for mode in ("none", "sim", "cuda"):
        times = [forked(functools.partial(accelerator.enable, mode)) for _ in range(_ROUNDS)]
        middle = statistics.median(times)
        print(f"enable({mode!r}) in a forked child: {middle:.1f} ms of CPU time, best {min(times):.1f}")
    accelerator.enable("sim")
    for name, (here, there) in cases("sim").items():
        print(f"{name:14} {microseconds(here):6.1f} us on the CPU, {microseconds(there):6.1f} us on the device")
    report_steps()


if __name__ == "__main__":
    main()
