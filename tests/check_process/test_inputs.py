"""Inputs cannot be told from what was seen of earlier ones, nor from another author's."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from check_process.courses import course_with, graded
from support import FORK, open_lane

from grader.check_process.checks import InputStream, twister_state
from grader.course.load import load_course
from grader.model import Check, Course
from grader.model.messages import CheckSelection
from grader.runner.lane import Lane

pytestmark = pytest.mark.lane

CHECK = Check("small", "double", "T")


def draws(stream: InputStream) -> list[int]:
    return [stream.rng.integer(0, 2**31 - 1) for _ in range(8)]


def test_the_same_seed_gives_the_same_inputs() -> None:
    """For the same check, as often as a worker is asked; however much was drawn before, there is no link to follow."""
    little, much = InputStream(7, CHECK), InputStream(7, CHECK)
    for _ in range(3):
        assert draws(little) == draws(much)
        much.rng.normal(100_000)
        little.renew()
        much.renew()


def test_what_ran_before_decides_nothing(tiny: Course, fork_lane: Lane) -> None:
    """A check has the same inputs alone, where the file is loaded for it, and after others."""
    double = tiny.exercises[0]
    files = {"double.py": b"def double(x):\n    return 3 * x\n\n\ndef double_(x):\n    return x.mul_(2)\n"}
    alone = fork_lane.run(double, files, 7, "", CheckSelection(frozenset({"random"}))).outcomes[0]
    others = {outcome.check: outcome.detail for outcome in fork_lane.run(double, files, 7).outcomes}
    assert "got " in alone.detail
    assert alone.detail == others["random"]


def test_everything_that_is_known_of_a_check_changes_its_inputs() -> None:
    """The seed, the exercise, and the check's id; they change a worker's seed as well, which could make no inputs."""
    others = [CHECK, replace(CHECK, id="large"), replace(CHECK, exercise="total")]
    streams = [InputStream(8, CHECK), *(InputStream(7, check) for check in others)]
    assert len({tuple(draws(stream)) for stream in streams}) == 4
    seeds = {stream.workers_seed() for stream in streams[:3]}
    assert len(seeds) == 3
    assert max(seeds) < 2**48


RANKS = """
from grader.check import check, run_on_ranks


@check("C1", share=1)
def check_ranks(student, rng):
    run_on_ranks(student.double, [[rng.normal(2)], [rng.normal(2)]])
"""

HANGS = b"""
import torch
import torch.distributed as dist

def double(x):
    other = 1 - dist.get_rank()
    dist.recv(torch.zeros(()), other)
    dist.send(torch.zeros(()), other)
"""


@pytest.mark.slow
def test_a_deadlock_is_the_same_for_all_inputs(tmp_path: Path) -> None:
    """It is waited for with one seed: whoever compares the answer with known mistakes need not run it with others."""
    course = course_with(tmp_path, hidden=RANKS)
    path = course.root / "exercises/01_basics/double/exercise.yaml"
    path.write_text(f"{path.read_text()}limits: {{processes: 16, call_s: 30}}\n")
    double = load_course(course.root).exercises[0]
    with open_lane([double], FORK) as lane:
        hangs, talks = (
            lane.run(double, {"double.py": text}, 7, "", CheckSelection(frozenset({"ranks"}), again=True)).outcomes[0]
            for text in (HANGS, b"def double(x):\n    raise ValueError")
        )
    assert "hangs on a rank" in hangs.message
    assert (hangs.same_for_all, talks.same_for_all) == (True, False)


OWN = """
import random
import numpy as np
import torch
from grader.check import assert_values, check


@check("C1")
def check_drawn(student):
    \"\"\"Numbers of PyTorch's own generator, NumPy's and Python's\"\"\"
    x = torch.stack([torch.randn(3), torch.from_numpy(np.random.rand(3)), torch.full((3,), random.random())])
    assert_values(student.double(x), 2 * x)
"""


def test_a_check_that_draws_by_itself_is_the_same_again(tmp_path: Path) -> None:
    """Of two submissions with one seed both have the same inputs: what was drawn for the first moves nothing."""
    with graded(course_with(tmp_path, "", OWN), tmp_path) as grade:
        told = [grade("def double(x):\n    return 3 * x\n", seed=seed).checks[0].outcome.detail for seed in (5, 5, 6)]
    assert "got " in told[0]
    assert told[0] == told[1]
    # None of the numbers comes again with another seed.
    assert not set(re.findall(r"\d\.\d+", told[0])) & set(re.findall(r"\d\.\d+", told[2]))


def test_no_seed_of_32_bits_gives_the_state() -> None:
    """All 624 words come from the stream. PyTorch uses them as the twister that Python has, too."""
    raw = random.Random(1).randbytes(4 * 624)
    generator = torch.Generator()
    generator.set_state(twister_state(raw))
    words = [int.from_bytes(raw[4 * i : 4 * i + 4], "little") for i in range(624)]
    words[0] |= 0x80000000
    twin = random.Random()
    twin.setstate((3, (*words, 624), None))
    drawn = torch.randint(0, 2**20, (2000,), generator=generator).tolist()
    assert drawn == [twin.getrandbits(32) % 2**20 for _ in range(2000)]


def test_numbers_are_as_random_as_they_should_be() -> None:
    """Normal and uniform numbers have their means and deviations."""
    rng = InputStream(3, CHECK).rng
    normal, uniform = rng.normal(100_000), rng.uniform(100_000)
    assert abs(float(normal.mean())) < 0.02
    assert abs(float(normal.std()) - 1) < 0.02
    assert abs(float(uniform.mean()) - 0.5) < 0.01


def test_authors_of_a_batch_get_different_inputs() -> None:
    """From the secret and the author; a student's own copy has one seed, so that a run can be repeated."""
    batch = replace(FORK, secret=b"s" * 32)
    assert batch.seed_of("ada") == batch.seed_of("ada")
    assert len({batch.seed_of(author) for author in ("ada", "bo", "Zo\udcff")}) == 3
    assert batch.seed_of("ada") != replace(batch, secret=b"t" * 32).seed_of("ada")
    assert replace(FORK, seed=5).seed_of("ada") == replace(FORK, seed=5).seed_of("bo") == 5
