"""Ten thousand honest workers, one after the other, fully confined: does anything stay behind, does anything grow?

    python tools/many_workers.py [--workers 10000] [--as-nobody]

Each worker loads a submission, answers one call with a tensor, and is ended. At every tenth of the way a row tells:
processes that descend from this one, descriptors and resident memory of all of them (worker server, launcher and check
side apart), mounts, namespaces in which any process of this machine's is, files in the workers' folder and in that for
temporary files, shared memory, and control groups. The last line says what differs from the first. With `--as-nobody`
an ordinary user does it, from root.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from attacking.host import interpreter_prefixes
from attacking.nobody import NOBODY, become_nobody

from grader.connection.connection import Connection
from grader.connection.student import Student
from grader.model import Limits
from grader.model.messages import Level
from grader.runner.promises import SandboxPlan
from grader.runner.worker_server import WorkerServer
from grader.sandbox import cgroup
from grader.worker_process.fork import ForkStarter

ROOT = Path(__file__).resolve().parents[1]
FILES = {"small.py": b"import torch\n\n\ndef double(x):\n    torch.save(x, 'kept.pt')\n    return 2 * x\n"}


def descendants(pid: int) -> list[int]:
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, fresh = [], [pid]
    while fresh:
        fresh = [child for child, parent in parents.items() if parent in fresh]
        found += fresh
    return found


def row(root: Path, groups: cgroup.ControlGroup | None) -> dict[str, int]:
    """Wait a second, so that the kernel can clean up the last worker; return what now exists, by name."""
    time.sleep(1)
    pids = [os.getpid(), *sorted(descendants(os.getpid()))]
    return {
        "processes": len(pids) - 1,
        "descriptors": sum(map(descriptors, pids)),
        "own MB": resident_mb(pids[0]),
        "theirs MB": sum(resident_mb(pid) for pid in pids[1:]),
        "mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
        "namespaces": len(namespaces(pids)),
        "files": len(list(root.iterdir())) + len(os.listdir(tempfile.gettempdir())),
        "shared": len(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else 0,
        "groups": len(list(groups.memory.glob("tensorgrade.*"))) if groups else 0,
        "slab MB": slab_mb(),
    }


def descriptors(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:  # of another user: root's workers, and what an ordinary user may not trace
        return 0


def namespaces(pids: list[int]) -> set[str]:
    """Return the namespaces of some processes, as far as this user may read them."""
    found = set[str]()
    for pid in pids:
        for kind in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup"):
            with contextlib.suppress(OSError):
                found.add(os.readlink(f"/proc/{pid}/ns/{kind}"))
    return found


def resident_mb(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() >> 20


def slab_mb() -> int:
    """Return the megabytes of kernel memory that cannot be reclaimed, where leaked namespaces and mounts would be."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("SUnreclaim")) >> 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=10_000)
    parser.add_argument("--as-nobody", action="store_true", help="as an ordinary user; only root can say so")
    options = parser.parse_args()
    count, folder = options.workers, tempfile.mkdtemp(prefix="many-workers-")
    if options.as_nobody:
        shutil.chown(folder, NOBODY, NOBODY)
        become_nobody([*interpreter_prefixes(), str(ROOT), str(Path(folder).parent)])
    tempfile.tempdir = folder  # nobody else's files are counted
    torch.set_num_threads(1)
    groups = cgroup.find()
    server = WorkerServer(SandboxPlan(least=Level.FULL))
    server.wait_ready()
    rows = []
    with tempfile.TemporaryDirectory() as workers:
        starter = ForkStarter(server.open_lane(0), Path(workers), groups)
        x = torch.ones(1000)
        for number in range(count + 1):
            connection = Connection(starter, "small", FILES, Limits())
            assert torch.equal(Student(connection).double(x), 2 * x)
            connection.close()
            if number == min(100, count // 10) or (number and number % (count // 10) == 0):
                rows.append(row(Path(workers), groups))
                if len(rows) == 1:
                    print(f"{'workers':>9}" + "".join(f"{name:>13}" for name in rows[0]))
                print(f"{number:9}" + "".join(f"{value:13}" for value in rows[-1].values()), flush=True)
        starter.close()
    server.close()
    left = descendants(os.getpid())
    print(f"after the end: {len(left)} processes, {len(os.listdir(folder))} files")
    shutil.rmtree(folder)
    grown = {name: (rows[0][name], rows[-1][name]) for name in rows[0] if rows[0][name] != rows[-1][name]}
    print("differs:", ", ".join(f"{name} {a} -> {b}" for name, (a, b) in grown.items()) or "nothing")
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
