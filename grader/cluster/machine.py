"""What a machine has that an outcome hangs on, and what it lacks of what a batch asks for."""

from __future__ import annotations

import functools
import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import grader
from grader.course.layout import BUNDLED
from grader.model.messages import Setup
from grader.runner.environment import describe_machine

_DIGITS = 12
_CPUINFO = Path("/proc/cpuinfo")

_AVX512 = {"avx512f", "avx512bw", "avx512dq", "avx512vl", "fma"}
_AVX2 = {"avx2", "fma"}

_TOLD = {
    "grader": "tensorgrade",
    "python": "Python",
    "torch": "PyTorch",
    "numpy": "NumPy",
    "processor": "a processor of the kind",
    "vectors": "vector instructions of the kind",
}


@dataclass(frozen=True)
class Machine:
    """What outcomes of a machine hang on, each in a word.

    Attributes:
        grader: version of this package, and a digest of its files: a checkout may be of the same version and differ.
        python: version.
        torch: version.
        numpy: version.
        processor: its architecture.
        vectors: the widest instructions that PyTorch uses there; the last digits of a sum hang on them.
    """

    grader: str
    python: str
    torch: str
    numpy: str
    processor: str
    vectors: str

    def why_not(self, asked: Machine) -> list[str]:
        """What this machine has where something else is asked for, each in words."""
        pairs = {name: (getattr(self, name), getattr(asked, name)) for name in _TOLD}
        return [
            f"{_TOLD[name]} {mine}, where {wanted} is asked for"
            for name, (mine, wanted) in pairs.items()
            if mine != wanted
        ]


def this_machine(setup: Setup) -> Machine:
    """What this machine has."""
    here = describe_machine(setup, None)
    return Machine(
        grader=f"{here.grader} ({package_digest()})",
        python=here.python,
        torch=here.torch,
        numpy=here.numpy,
        processor=here.os.split()[-1],
        vectors=_vectors(),
    )


def asked_of(mine: Machine, machines: Iterable[Machine]) -> Machine:
    """What a batch that is started here asks of machines.

    The machine that it is started on may be a small one at which nothing is graded: of vector instructions those are
    asked for that most of the others have.
    """
    kinds = Counter(machine.vectors for machine in machines)
    return replace(mine, vectors=kinds.most_common(1)[0][0]) if kinds else mine


@functools.cache
def package_digest() -> str:
    """A digest of the files of this package, without a course that came along."""
    root = Path(grader.__file__).resolve().parent
    whole = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if path.is_file() and path.suffix != ".pyc" and name.parts[0] != BUNDLED:
            data = path.read_bytes()
            whole.update(f"{name.as_posix()}:{len(data)}:".encode())
            whole.update(data)
    return whole.hexdigest()[:_DIGITS]


def _vectors() -> str:
    """As the kernel tells it; where it tells nothing, machines are taken to be alike."""
    try:
        lines = _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "unknown"
    told = next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    return vectors_of(set(told.partition(":")[2].split()))


def vectors_of(flags: set[str]) -> str:
    """The widest instructions of a processor that PyTorch has kernels for."""
    if flags >= _AVX512:
        return "AVX-512"
    if flags >= _AVX2:
        return "AVX2"
    return "SVE" if "sve" in flags else "plain"
