"""Runs a program with a simulated CUDA, and prints at the end what its use cost."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import linecache
import os
import runpy
import shutil
import sys
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from grader.accelerator.sim.counters import DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE
from grader.accelerator.sim.gpus import NAMES
from grader.accelerator.sim.machine import Machine
from grader.accelerator.sim.memory import size_text
from grader.accelerator.sim.program_lines import PACKAGE
from grader.accelerator.timeline import time_text, write_trace
from grader.accelerator.tools.arguments import parse_count, parse_gib
from grader.accelerator.tools.child_processes import enable_for_all
from grader.accelerator.tools.line_costs import Ledger
from grader.accelerator.tools.missing_packages import note_missing
from grader.accelerator.tools.virtual_time import virtual_time

_MOST_TRACED = 300_000
_LINES = 5


def main(argv: Sequence[str] | None = None) -> int:
    """Run a program with a simulated CUDA, as the arguments say, and return its exit status."""
    parser = _parser()
    options = parser.parse_args(argv)
    if not options.module and options.script is None:
        parser.error("name a script, or a module after -m")
    try:
        program = (
            _module_program(*options.module) if options.module else _script_program(options.script, options.arguments)
        )
        if options.trace:
            with open(options.trace, "a", encoding="utf-8"):
                pass  # before the program runs for an hour: can it be written?
        machine = enable_for_all(options.spec, options.devices, options.memory)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"python -m grader.accelerator: {_message_of(error)}\n")
        return 2
    ledger = Ledger(program.folder)
    machine.clock.on_span = ledger.add_span
    if options.trace:
        machine.clock.most = _MOST_TRACED
    with virtual_time() if options.virtual_time else contextlib.nullcontext():
        status = _exit_status_of(program.run)
    _flush_output()
    machine.races.warn_of_overwritten_copies(at_end=True)
    sys.stderr.write("\n".join(_summary(machine, ledger, virtual=options.virtual_time)) + "\n")
    if options.trace:
        write_trace(machine.clock.spans, options.trace)
        sys.stderr.write(_trace_line(machine, options.trace))
    return status


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m grader.accelerator",
        description="Run a PyTorch program with a simulated CUDA, and tell what its use of the device costs.",
    )
    parser.add_argument("--virtual-time", action="store_true", help="clocks that the program reads are virtual")
    parser.add_argument("--spec", metavar="NAME", default="", help=f"imitate a GPU: {', '.join(NAMES)}")
    parser.add_argument("--devices", metavar="N", type=parse_count, default=1, help="how many devices there are; 1")
    parser.add_argument("--memory", metavar="GIB", type=parse_gib, help="how much memory each device has")
    parser.add_argument("--trace", metavar="FILE", help="write what happened, for ui.perfetto.dev")
    parser.add_argument(
        "-m",
        dest="module",
        metavar="MODULE",
        nargs=argparse.REMAINDER,
        default=[],
        help="run a module, with the arguments that follow, in place of a script",
    )
    parser.add_argument("script", nargs="?", help="the program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what it is given")
    return parser


def _compile_script(script: Path) -> types.CodeType:
    with io.open_code(str(script)) as file:
        try:
            return compile(file.read(), str(script), "exec", dont_inherit=True)
        except SyntaxError as error:
            raise ValueError("".join(traceback.format_exception_only(error)).strip()) from None


def _message_of(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}"
    return str(error)


class _Program(NamedTuple):
    """A program that the launcher runs.

    Attributes:
        run: a function that runs it in this process.
        folder: the folder of the program's own files; the launcher lists which of their lines cost most.
    """

    run: Callable[[], object]
    folder: Path


def _script_program(script: str, arguments: list[str]) -> _Program:
    """Return a program that runs a script as `python SCRIPT` does."""
    path = Path(script).resolve()
    code = _compile_script(path)

    def run() -> None:
        module = types.ModuleType("__main__")
        vars(module).update(__file__=str(path), __builtins__=__builtins__)
        # Pickles and worker processes look for the program's classes under this name.
        sys.modules["__main__"] = module
        sys.argv = [script, *arguments]
        sys.path[0] = str(path.parent)
        exec(code, vars(module))  # noqa: S102 - to run it is what this is for

    return _Program(run, path.parent)


def _module_program(name: str, *arguments: str) -> _Program:
    """Return a program that runs a module as `python -m` does.

    Costs are listed for lines of files in the current folder.
    """

    def run() -> None:
        sys.path[0] = str(Path.cwd())
        sys.argv = [name, *arguments]
        # Here, since it imports the package that the module is in.
        try:
            there = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            there = None
        if there is None:
            raise SystemExit(f"python -m grader.accelerator: No module named {name}")
        runpy.run_module(name, run_name="__main__", alter_sys=True)

    return _Program(run, Path.cwd())


def _exit_status_of(run: Callable[[], object]) -> int:
    """Call `run`, and return the exit status that Python would have.

    It is 0 without an error, 3 for `SystemExit(3)`, 130 for a `KeyboardInterrupt`, and 1 for any other error, whose
    traceback is printed.
    """
    try:
        run()
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:
        _flush_output()
        note_missing(error)
        sys.stderr.write("".join(_traceback_of(error)))
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _traceback_of(error: BaseException) -> Iterator[str]:
    """Yield the lines of the traceback of an error, without the frames of this package."""
    shown = traceback.TracebackException.from_exception(error)
    shown.stack = traceback.StackSummary.from_list(
        [frame for frame in shown.stack if not frame.filename.startswith((PACKAGE, "<frozen runpy>"))]
    )
    return shown.format()


def _flush_output() -> None:
    # What the program printed comes before what is reported about it, also where one of both is a file.
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()


def _summary(machine: Machine, ledger: Ledger, *, virtual: bool) -> Iterator[str]:
    """Yield the lines of the report at the end of a program.

    They have the counts, the virtual times, the memory, and the slowest lines of the program. For example:

        launches          1,024
        host to device    1 copy, 4.00 KiB
        waits             3, item 2, copy 1

    Args:
        machine: the machine that the program used.
        ledger: the times of the program's lines.
        virtual: True if the program's clocks were virtual, so that the times of the CPU's work are in the sum.
    """
    tally, clock = machine.tally, machine.clock
    end = max([clock.host, *clock.ready.values()])
    yield ""
    name = machine.spec.name
    yield f"-- {name}" + ("" if name.startswith("Simulated") else ", simulated")
    yield f"launches          {tally.launches:,}"
    for direction in (HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE):
        if count := tally.transfers.get(direction, 0):
            yield f"{direction:<17} {_copies(count)}, {size_text(tally.transferred.get(direction, 0))}"
    waits = sorted(tally.syncs.items(), key=lambda item: -item[1])
    yield f"waits             {sum(tally.syncs.values()):,}" + "".join(f", {name} {n:,}" for name, n in waits[:4])
    yield f"virtual time      {time_text(end)}" + ("" if virtual else ", work of the CPU not counted")
    for device in machine.devices:
        busy = ledger.busy_seconds(device.index)
        if device.memory.peak or busy:
            share = f"busy {time_text(busy)}, idle {time_text(end - busy)}"
            yield f"device {device.index}          {share}, peak {size_text(device.memory.peak)}"
            if device.fault is not None and not device.fault_is_reported:
                yield f"a kernel failed, and nothing waited for it: {device.fault.text}"
    yield from _slowest_lines(ledger)


def _copies(count: int) -> str:
    return f"{count:,} {'copy' if count == 1 else 'copies'}"


def _slowest_lines(ledger: Ledger) -> Iterator[str]:
    slowest = ledger.slowest(_LINES)
    if not slowest:
        return
    width = min(shutil.get_terminal_size().columns, 120)
    yield "  device     host    waits  the slowest lines"
    for (file, number), cost in slowest:
        times = "".join(f"{time_text(seconds):>9}" for seconds in (cost.device, cost.host, cost.waits))
        text = linecache.getline(file, number).strip()
        yield f"{times[1:]}  {os.path.basename(file)}:{number} {text}"[:width].rstrip()


def _trace_line(machine: Machine, path: str) -> str:
    left = machine.clock.count - len(machine.clock.spans)
    more = f"; the first {len(machine.clock.spans):,} spans, {left:,} more are left out" if left else ""
    return f"trace             {path}{more}; open it in https://ui.perfetto.dev\n"
