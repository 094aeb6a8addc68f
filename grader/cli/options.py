"""Options that several commands have, as one set-up of a run. What they need is imported when a command runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec

import click

if TYPE_CHECKING:
    from grader.jobs import Setup

Rest = ParamSpec("Rest")

start_option = click.option(
    "--start", type=click.Choice(["fork", "spawn"]), help="How workers start; by default what this system allows."
)

device_option = click.option(
    "--device",
    type=click.Choice(["sim", "cuda"]),
    default="sim",
    show_default=True,
    help="What checks of devices run on: a simulated accelerator, or CUDA, slowly and without confinement.",
)


def confinement_option(default: str) -> Callable[[Callable[Rest, None]], Callable[Rest, None]]:
    """The least level of confinement."""
    return click.option(
        "--confinement",
        type=click.Choice(["none", "reduced", "full"]),
        default=default,
        show_default=True,
        help="The least level of confinement of student code; as much as this machine allows is used in any case.",
    )


def read_setup(start: str | None, device: str = "sim", confinement: str = "none", seed: int = 0) -> Setup:
    """The set-up that the options ask for."""
    from grader.confine.levels import Level
    from grader.jobs import Setup, Start
    from grader.lanes.open import default_start
    from grader.model import Device

    accelerator = Device(device)
    return Setup(
        start=Start(start) if start else default_start(accelerator),
        accelerator=accelerator,
        least=Level.of(confinement),
        seed=seed,
    )
