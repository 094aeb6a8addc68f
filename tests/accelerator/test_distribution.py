"""The simulated GPU as a distribution of its own, and what its plugin for pytest offers."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

pytestmark = [pytest.mark.lane, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]

TESTS = """
import pytest
import torch

def test_the_device():
    assert torch.cuda.get_device_name() == "NVIDIA L4"
    assert torch.cuda.device_count() == 2
    assert torch.cuda.mem_get_info()[1] == 1 << 30
    import simulated_cuda
    assert simulated_cuda.cuda_is_simulated()
    assert "grader" not in __import__("sys").modules

@pytest.mark.real_gpu
def test_speed():
    assert False

def test_an_assert():
    x = torch.zeros(3, device="cuda")
    with pytest.raises(RuntimeError):
        x[torch.tensor([7], device="cuda")]
        torch.cuda.synchronize()

def test_after_it():
    assert torch.ones(2, device="cuda").sum().item() == 2
    torch.ones(2, device="cuda").cpu()

def test_refused():
    torch.cuda.ExternalStream(1)

def test_refused_by_a_tensor():
    torch.ones(2, device="cuda").numpy()

def test_refused_and_handled():
    with pytest.raises(NotImplementedError):
        torch.cuda.ExternalStream(1)

def test_no_refusal():
    with pytest.raises(NotImplementedError):
        raise NotImplementedError("the simulated device is not meant")
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this repository and unpacked."""
    folder = tmp_path_factory.mktemp("distribution")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    source = ROOT / "packages" / "simulated-cuda"
    subprocess.run([*command, "--wheel-dir", str(folder), str(source)], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def run_pytest(installed: Path, folder: Path, *options: str, more: Sequence[Path] = ()) -> str:
    """Run pytest with the unpacked wheel; this repository is importable only if it is in `more`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "GRADER_"))}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, (installed, *more)))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:tensorgrade", *options]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


def test_everything_of_the_plugin(installed: Path, tmp_path: Path) -> None:
    """The entry point, keys of the ini file, memory, the marker, a device that is revived, and the last line."""
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    ini = '[tool.pytest.ini_options]\naccelerator = "l4"\naccelerator_devices = "2"\naccelerator_memory = "1"\n'
    (tmp_path / "pyproject.toml").write_text(ini, encoding="utf-8")
    printed = run_pytest(installed, tmp_path, "--accelerator-revive")
    assert "2 failed, 5 passed, 1 skipped" in printed, printed
    # Tracebacks end in the line of the test, except with `--full-trace`.
    assert "simulated_cuda/" not in printed
    assert "simulated_cuda/core/" in run_pytest(installed, tmp_path, "--full-trace", "-k", "by_a_tensor")
    # A refusal is counted where it is raised, not by what a test says of it.
    assert "0 races, 2 refusals, 1 revived device\n" in printed, printed
    assert "simulated CUDA: " not in run_pytest(installed, tmp_path, "--accelerator", "none", "--collect-only")
    # In pytest's own table of a TOML file, numbers are numbers.
    ini = '[tool.pytest]\naccelerator = "l4"\naccelerator_devices = 2\naccelerator_memory = 1\n'
    (tmp_path / "pyproject.toml").write_text(ini, encoding="utf-8")
    assert "1 passed" in run_pytest(installed, tmp_path, "-k", "the_device")
    for devices in ("0", "17", "two"):
        assert not run_pytest(installed, tmp_path, "--accelerator-devices", devices)


def test_the_package_names_nothing_of_the_grader(installed: Path) -> None:
    """Whoever installs it has one package, of which no file knows the other name."""
    assert sorted(path.name for path in installed.iterdir())[0] == "simulated_cuda"
    for path in installed.rglob("*.py"):
        assert "grader." not in path.read_text(encoding="utf-8"), path


BOTH = """
import os, subprocess, sys
import pytest, torch

def test_one_device():
    assert torch.cuda.get_device_name() == "NVIDIA A100-SXM4-40GB"
    from grader.accelerator import cuda_is_simulated
    import simulated_cuda
    assert cuda_is_simulated() and not simulated_cuda.cuda_is_simulated()
    with pytest.raises(RuntimeError, match="start the process with one of the two"):
        simulated_cuda.enable("cuda")

@pytest.mark.real_gpu
def test_speed():
    assert False
"""


@pytest.mark.parametrize("processes", ["0", "2"])
def test_the_plugin_of_the_grader_beside_it(installed: Path, tmp_path: Path, processes: str) -> None:
    """With both, the plugin that pytest loads first simulates, also in processes of pytest-xdist."""
    (tmp_path / "test_it.py").write_text(BOTH, encoding="utf-8")
    options = ["-p", "grader.accelerator.pytest_plugin", "--accelerator", "a100", "-n", processes]
    printed = run_pytest(installed, tmp_path, *options, more=[ROOT])
    assert "1 passed, 1 skipped" in printed, printed
    assert printed.count("simulated CUDA: ") == 1, printed
