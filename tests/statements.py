"""What the course states is run: `python tests/statements.py` runs all of it with the PyTorch of that Python.

`tests/statements/*.txt` quote the course, and below each quotation are the lines that show it:

    # exercises/01_making/README.md

    > Rows of different lengths raise ValueError

    >>> raised(lambda: torch.tensor([[1], [2, 3]]))
    'ValueError'

A line `# PATH` names the file that is quoted. Lines that begin with `> ` are a quotation, and each paragraph of them is
one; line breaks do not matter. What follows belongs to all quotations above it, and is one of three things: examples,
as doctest reads them; `Source: ...`, for what no line can show (a cluster, a GPU), or the test that shows it, as
`tests/FILE.py::TEST`; or `Not run: ...`, with the reason, for what states no fact. `tests/test_pages.py` requires one
of them for each sentence of a module's page.

This file needs PyTorch and NumPy alone, so that it runs with any versions of them:

    ENVIRONMENT/bin/python tests/statements.py [NAME ...]
"""

from __future__ import annotations

import datetime
import doctest
import io
import multiprocessing
import os
import runpy
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "statements"
FILES = sorted(FOLDER.glob("*.txt"))
TORCH = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
"""The version of PyTorch, for what differs between versions: `TORCH >= (2, 14)`."""


@dataclass(frozen=True)
class Statement:
    """Quotations and what shows that they are true.

    Attributes:
        page: the file that is quoted, from the root of the repository.
        quotes: what stands there, with single blanks.
        shown: examples as doctest reads them, or a line `Source: ...` or `Not run: ...`; empty if nothing follows.
        line: where the quotations begin in the file of statements.
    """

    page: str
    quotes: list[str] = field(default_factory=list)
    shown: str = ""
    line: int = 0


def squeezed(text: str) -> str:
    """Return a text with single blanks, so that line breaks do not matter."""
    return " ".join(text.split())


def read_statements(path: Path) -> Iterator[Statement]:
    """Read a file of statements."""
    page, start, within = "", 0, False
    quotes: list[str] = []
    shown: list[str] = []
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), "# end"], 1):
        if line.startswith(("# ", "> ")) and shown:
            yield Statement(page, [squeezed(quote) for quote in quotes], "\n".join(shown).strip(), start)
            quotes, shown = [], []
        if line.startswith("# "):
            page = line.removeprefix("# ")
        elif line.startswith("> "):
            start = start if quotes else number
            quotes = [*quotes[:-1], f"{quotes[-1]} {line[2:]}"] if within else [*quotes, line[2:]]
        elif line or shown:
            shown.append(line)
        within = line.startswith("> ")
    if quotes:
        yield Statement(page, [squeezed(quote) for quote in quotes], "", start)


def raised(call: Callable[[], object]) -> str:
    """Return the name of the exception that a call raises; "nothing" if it raises none."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "nothing"


def warned(call: Callable[[], object]) -> list[str]:
    """Return the names of the warnings that a call causes, also of those that PyTorch gives only once."""
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            call()
    finally:
        torch.set_warn_always(always)
    return [item.category.__name__ for item in said]


def on_ranks(count: int, run: Callable[[int], Any], *, timeout_s: float = 60) -> list[Any]:
    """Return what a function returns on each rank of a process group (gloo), or the name of its exception."""
    import torch.distributed as dist

    context = multiprocessing.get_context("fork")
    replies = context.SimpleQueue()

    def of_rank(rank: int, place: str) -> None:
        try:
            store = dist.FileStore(place, count)  # type: ignore[attr-defined]
            wait = datetime.timedelta(seconds=timeout_s)
            dist.init_process_group("gloo", store=store, rank=rank, world_size=count, timeout=wait)
            replies.put((rank, run(rank)))
        except Exception as error:
            replies.put((rank, type(error).__name__))
        replies.close()
        os._exit(0)

    with tempfile.TemporaryDirectory() as folder:
        processes = [context.Process(target=of_rank, args=(rank, f"{folder}/store")) for rank in range(count)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    return [reply for _, reply in sorted((replies.get() for _ in processes), key=lambda item: item[0])]


def bytes_shared(one: Any, other: Any) -> bool:
    """Return whether two tensors, or a tensor and an array, have an element in common."""
    first, second = (item.detach().numpy() if isinstance(item, torch.Tensor) else item for item in (one, other))
    return np.shares_memory(first, second)


def run_file(path: str) -> dict[str, Any]:
    """Run a file of the course, such as a starter or a reference, and return its names.

    Args:
        path: the file, from the root of the repository.
    """
    return runpy.run_path(str(ROOT / path))


def falsified(statement: Statement, path: Path, names: dict[str, Any]) -> str:
    """Run the examples of a statement with these names; return what differs, empty if all is as stated."""
    test = doctest.DocTestParser().get_doctest(statement.shown, names, path.stem, str(path), statement.line)
    test.globs = names  # so that the next statement of the file has the names of this one
    printed = io.StringIO()
    always, threads, dtype = torch.is_warn_always_enabled(), torch.get_num_threads(), torch.get_default_dtype()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failed = (
            doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
            .run(test, out=printed.write, clear_globs=False)
            .failed
        )
    assert (always, threads, dtype) == (
        torch.is_warn_always_enabled(),
        torch.get_num_threads(),
        torch.get_default_dtype(),
    ), f"{path.name}, line {statement.line} changes a setting of PyTorch"
    return printed.getvalue() if failed else ""


NAMES = ("torch", "np", "sys", "raised", "warned", "bytes_shared", "on_ranks", "run_file", "TORCH")
"""What the examples can use. Names that one makes go on in the same file."""


def problems(path: Path) -> Iterator[str]:
    """Run all statements of a file; yield a text for each that does not hold, with its page and the versions."""
    names = {name: globals()[name] for name in NAMES}
    for statement in read_statements(path):
        if differs := falsified(statement, path, names):
            versions = f"PyTorch {torch.__version__}, NumPy {np.__version__}"
            quoted = "\n".join(f"  > {quote}" for quote in statement.quotes)
            yield f"{statement.page} states, and it is false with {versions}:\n{quoted}\n{differs}"


def main(chosen: list[str]) -> int:
    """Run the statements of all files, or of those with these names; return the exit status."""
    files = [path for path in FILES if not chosen or path.stem in chosen]
    found = [problem for path in files for problem in problems(path)]
    count = sum(">>>" in statement.shown for path in files for statement in read_statements(path))
    print(*found, sep="\n")
    print(f"PyTorch {torch.__version__}, NumPy {np.__version__}: {count} run, {len(found)} false")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
