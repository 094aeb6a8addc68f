"""PyTorch's own tests of devices, run on the simulated accelerator in mode `sim`.

python gpu/device_tests.py CLONES [WORD ...] [--told FILE]

CLONES is a folder with a clone of each repository that is named below, called OWNER+NAME. They hold copies of PyTorch's
test files for devices of other makers, whose names are replaced by that of the simulated one. WORDs choose files. Each
test runs in a process of its own for at most a minute of CPU time. The table in docs/accelerator.md comes out, but for
its reasons; FILE is given a line for each test that failed. It needs expecttest; some tests are skipped without SciPy.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback
import types
import unittest
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from accelerator.conformance import answer_of

_LONGEST = 60
"""Seconds of CPU time that a test may take; by the clock ten times as many, should it wait for something."""

_ASCEND = ("Ascend/pytorch", "npu")
_INTEL = ("intel/torch-xpu-ops", "xpu")
FILES = {
    "indexing": (*_ASCEND, "test/test_indexing.py"),
    "type promotion": (*_ASCEND, "test/test_type_promotion.py"),
    "view operators": (*_ASCEND, "test/test_view_ops.py"),
    "creation": (*_ASCEND, "test/test_tensor_creation_ops.py"),
    "autograd": (*_ASCEND, "test/test_autograd.py"),
    "torch": (*_INTEL, "test/xpu/test_torch_xpu.py"),
}
"""Where each file comes from, and the name of the device there."""

Outcome = tuple[str, str]
"""How a test ended, and the last line that tells of it."""


def adapted(text: str, name: str) -> str:
    """Return a test file with the simulated device in place of the one with this name."""
    text = re.sub(r"^ *import torch_npu.*$|^ *from torch_npu.*$", "pass", text, flags=re.MULTILINE)
    text = text.replace("torch_npu.npu", "torch.sim").replace("torch_npu", "torch.sim")
    text = re.sub(r"""only_for=['"]xpu['"]""", 'only_for="privateuse1"', text)
    text = re.sub(r"allow_xpu=True, ?|, ?allow_xpu=True", "", text)
    # Files of other tests, which need no device.
    text = re.sub(r"^from autograd\.\w+ import .*$", "", text, flags=re.MULTILINE)
    return re.sub(rf"(?<![A-Za-z]){name}(?![A-Za-z])", "sim", text)


def tests_of(path: Path) -> Iterator[unittest.TestCase]:
    """Yield the tests of a file that are for devices."""
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), vars(module))
    for name, found in list(vars(module).items()):
        # PyTorch names them for the place of such devices, and from the second on for the device.
        ours = name.endswith(("PRIVATEUSE1", "SIM"))
        if ours and isinstance(found, type) and issubclass(found, unittest.TestCase):
            yield from unittest.defaultTestLoader.loadTestsFromTestCase(found)  # type: ignore[misc]


def run(test: unittest.TestCase) -> Outcome:
    """Run a test in a child."""
    answer, code = answer_of(lambda: _outcome(test))
    if code in (-signal.SIGPROF, -signal.SIGALRM):
        return "failed", f"more than {_LONGEST} s"
    how, why = answer or ("failed", f"the process died with {code}")
    return how, why


def _outcome(test: unittest.TestCase) -> Outcome:
    """Run it, in silence and for so long."""
    signal.setitimer(signal.ITIMER_PROF, _LONGEST)
    signal.alarm(10 * _LONGEST)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    result = unittest.TestResult()
    try:
        type(test).setUpClass()
        test.run(result)
    except BaseException:
        return "failed", traceback.format_exc().strip().splitlines()[-1]
    if problems := [*result.errors, *result.failures]:
        lines = [line for line in problems[0][1].splitlines() if re.match(r"\w[\w.]*(Error|Exception|Warning)?:", line)]
        return "failed", (lines or problems[0][1].strip().splitlines())[0][:300]
    if result.skipped:
        return "skipped", result.skipped[0][1]
    return ("failed", "it was to fail") if result.unexpectedSuccesses else ("passed", "")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--told", type=Path)
    parser.add_argument("-k", default="", help="only tests whose name holds this text")
    chosen = parser.parse_args()
    print("| file | passed | failed | skipped |\n|---|---|---|---|", flush=True)
    for name, (repository, device, path) in FILES.items():
        if chosen.words and not any(word in name for word in chosen.words):
            continue
        # A device is enabled once in a process, and each file brings its own settings.
        if (child := os.fork()) == 0:
            try:
                _file(name, chosen.clones / repository.replace("/", "+"), device, path, chosen.told, chosen.k)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(0)
        os.waitpid(child, 0)


def _file(name: str, clone: Path, device: str, path: str, told: Path | None, word: str) -> None:
    accelerator = importlib.import_module("grader.accelerator")
    warnings.simplefilter("default")
    os.environ["PYTORCH_TESTING_DEVICE_ONLY_FOR"] = "privateuse1"
    accelerator.preload()
    accelerator.preload_operations()
    accelerator.enable("sim")
    importlib.import_module("torch").set_num_threads(1)
    clone = clone if (clone / ".git").exists() else clone / "repo"
    command = ["git", "-C", str(clone), "show", f"HEAD:{path}"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / Path(path).name
        file.write_text(adapted(shown.stdout, device), encoding="utf-8")
        tests = list(tests_of(file))
        # Some ask for the device's name as they are read; what is forked from a process that used it has none.
        accelerator.the_machine().used = False
        for test in tests:
            if word not in test.id():
                continue
            how, why = run(test)
            counts[how] += 1
            if told is not None and how == "failed":
                with told.open("a", encoding="utf-8") as stream:
                    stream.write(f"{name}\t{test.id().rpartition('.')[2]}\t{why}\n")
    print(f"| {name} | {counts['passed']} | {counts['failed']} | {counts['skipped']} |", flush=True)


if __name__ == "__main__":
    main()
