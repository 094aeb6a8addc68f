"""The virtual clock beside times that others published of a real GPU."""

from __future__ import annotations

import runpy
from pathlib import Path

from accelerator.modes import in_mode

from grader.accelerator.sim.gpus import spec_of


@in_mode("cuda", indices=1, spec=spec_of("a100-80gb"))
def test_a_step_of_gpt2_on_an_a100() -> None:
    """In float32, TF32 and bfloat16 a step takes what was published, within 15 %."""
    _check("a100-80gb")


@in_mode("cuda", indices=1, spec=spec_of("h100"))
def test_a_step_of_gpt2_on_an_h100() -> None:
    """The same for what we measured, to which no share was fitted."""
    _check("h100")


def _check(gpu: str) -> None:
    program = runpy.run_path(str(Path(__file__).parents[2] / "gpu" / "gpt2_step.py"))
    for precision, real in program["REAL"][gpu].items():
        assert abs(program["milliseconds"](precision) / real - 1) < 0.15, precision
