"""A real worker's memory, modules, environment, arguments, folder and descriptors hold nothing but its own.

Looked at without a wall, so that there is much to see: what is not there needs no hiding.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import grader_of, open_lane

from grader.model import Course
from grader.model.messages import Level, Setup, Start

pytestmark = pytest.mark.lane

SPY = r'''
import builtins, gc, json, os, re, sys

def look():
    found = {}
    found["modules"] = sorted(name for name in sys.modules if name.split(".")[0] in
                              ("pytest", "_pytest", "yaml", "pydantic", "click", "pluggy"))
    found["ours"] = sorted(name for name in sys.modules if name.startswith("grader"))
    found["environ"] = dict(os.environ)
    found["cmdline"] = open("/proc/self/cmdline").read().split("\0")
    found["folder"] = sorted(os.listdir("."))
    found["path"] = sys.path
    fds = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            fds[name] = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            pass
    found["fds"] = fds
    found["memory"] = search()
    return json.dumps(found)

def search():
    """Look for words that stand in checks and references only, through all readable private memory."""
    backwards = (b"SREKRAM TERCES", b"secirtam modnar selbuoD", b"sregetni sregetni speeK")
    hits = []
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            span, rights, _, _, _, *name = line.split()
            if "r" not in rights or (name and name[0] not in ("[heap]", "[stack]")):
                continue  # files are looked at by name; they are libraries
            start, end = (int(part, 16) for part in span.split("-"))
            try:
                memory.seek(start)
                data = memory.read(end - start)
            except (OSError, ValueError, OverflowError):
                continue
            # Letter by letter: the word itself, once put together here, would be found in the next range.
            patterns = {word: b"".join(b"[%c]" % letter for letter in reversed(word)) for word in backwards}
            hits += [word.decode() for word, pattern in patterns.items() if re.search(pattern, data)]
    return hits

def double(x):
    print(look())
    return 2 * x

def double_(x):
    return x.mul_(2)
'''


WITHOUT_FORK = """
import os, socket
for name in ("fork", "forkpty", "memfd_create", "pidfd_open"):
    delattr(os, name)
for name in ("AF_UNIX", "send_fds", "recv_fds"):
    delattr(socket, name)
"""


def forked(tiny: Course, folder: Path) -> str:
    """What a forked worker prints of the spy, where it is not confined."""
    with open_lane(tiny.exercises, Setup(Start.FORK, most=Level.NONE)) as lane:
        return grader_of(tiny, lane, folder)(SPY).output


def spawned(tiny: Course, folder: Path) -> str:
    """The same of one that is started as on Windows and macOS: without fork, Unix sockets and memfd, for full marks."""
    (folder / "double.py").write_text(SPY)
    code = f"""
import sys
{WITHOUT_FORK}
sys.argv = ["grade", "double", "--start", "spawn", "--submission", {str(folder)!r}, "--json", "-"]
os.chdir({str(tiny.root)!r})
from grader.sandbox import process as processes
processes._BOOT = {WITHOUT_FORK!r} + processes._BOOT
from grader.cli import main
main()
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    (exercise,) = json.loads(ran.stdout)["exercises"]
    assert exercise["score"]["earned"] == 10
    return str(exercise["output"])


@pytest.mark.parametrize("printed", [forked, spawned])
def test_worker_holds_nothing(tiny: Course, tmp_path: Path, printed: Callable[[Course, Path], str]) -> None:
    """A worker has no check, no reference, no path or descriptor of one, wherever it looks."""
    output = printed(tiny, tmp_path)
    assert output.startswith("{"), output
    found = dict(json.loads(output.split("\n")[0]))
    assert found["modules"] == []
    ours = ("grader.wire", "grader.worker", "grader.sandbox", "grader.accelerator")
    assert all(name.startswith(ours) or name == "grader" for name in found["ours"])
    assert found["memory"] == []
    assert found["folder"] == ["double.py"]
    text = repr({key: found[key] for key in ("environ", "cmdline", "path", "fds", "folder")})
    for secret in ("solutions", "courses", "exercises", str(tiny.root), str(tmp_path), "check_double"):
        assert secret not in text
    kept = {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "HOME", "TMPDIR", "TEMP", "TMP"}
    kept |= {"PYTHONHASHSEED", "GLIBC_TUNABLES"}
    kept |= {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LD_LIBRARY_PATH"}
    kept |= {name for name in found["environ"] if name.startswith(("TORCHINDUCTOR", "KMP", "PYTORCH", "TORCH"))}
    assert set(found["environ"]) <= kept
    # Its descriptors are the null device, its output, its channel, and the folder that it lists just now.
    targets = list(found["fds"].values())
    kinds = {target.split(":")[0] for target in targets} - {"/dev/null", "socket", "pipe", "anon_inode"}
    outputs = {kind for kind in kinds if kind.endswith(".out")}
    assert not {kind for kind in kinds - outputs if not kind.startswith("/proc/")}
    assert len(outputs) == 1
    assert sum(target.startswith(("socket", "pipe")) for target in targets) <= 2
