"""Writes uv.lock, constraints.txt and constraints.lock, of the requirements in pyproject.toml. `make locks` runs it.

uv.lock is the record: one version of each package for users, tests, lint and docs, on every system and Python. The
other two are made of it for installers that do not read it: constraints.txt for pip, and constraints.lock with the
hashes of all files, so that an installer refuses another one. PyTorch has no hashes there, as its index for machines
without CUDA has other files than PyPI; the packages of CUDA are left out, because PyTorch itself says which of them it
needs; and setuptools has a lower bound, as other packages say which of its versions builds them.

A newer version of one package: `uv lock --upgrade-package NAME`, then `make locks`, then all tests. Needs uv.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WITHOUT_HASHES = ("torch", "setuptools")
OF_CUDA = re.compile(r"(cuda|nvidia)-|triton$")
SETUPTOOLS = "setuptools>=77\n"
PLAIN_HEAD = "# Versions with which the tests passed; `make install` installs them, and `make locks` writes them.\n"
HEAD = "# The versions of constraints.txt with the hashes of their files, for uv; `make locks` writes them anew.\n"
INDEX = "https://pypi.org/simple"


def normalized(name: str) -> str:
    """Return the name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def versions(text: str) -> dict[str, str]:
    """The lines of a file of constraints, by the normalized names of packages."""
    lines = re.findall(r"^([A-Za-z0-9][\w.-]*?)((?:==|>=)[^\s;\\]+)", text, re.MULTILINE)
    return {normalized(name): version for name, version in lines}


def uv(*words: str) -> str:
    """Run uv, with PyPI as the one index: a lock names no mirror."""
    command = [os.environ.get("UV", "uv"), *words, "--default-index", INDEX]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def exported() -> dict[str, list[str]]:
    """Return the hashes of each `name==version` in uv.lock that constraints are made of."""
    wanted = ("--frozen", "--all-groups", "--all-extras", "--no-emit-project", "--no-annotate", "--no-header")
    text = uv("export", *wanted)
    entries = re.findall(r"^(\S+==[^\s;\\]+)(.*(?:\n    .*)*)", text, re.MULTILINE)
    return {pin: re.findall(r"--hash=\S+", rest) for pin, rest in entries if not OF_CUDA.match(pin.split("==")[0])}


def main() -> None:
    """Lock, and write what is made of the lock."""
    uv("lock")
    pins = exported()
    hashed = {pin: hashes for pin, hashes in pins.items() if pin.split("==")[0] not in WITHOUT_HASHES}
    torch = next(pin for pin in pins if pin.startswith("torch==")) + "\n"
    plain = sorted([*(f"{pin}\n" for pin in hashed), torch, SETUPTOOLS])
    (ROOT / "constraints.txt").write_text(PLAIN_HEAD + "".join(plain), encoding="utf-8")
    lines = [" \\\n    ".join([pin, *hashes]) + "\n" for pin, hashes in hashed.items()]
    (ROOT / "constraints.lock").write_text(HEAD + "".join([*lines, SETUPTOOLS, torch]), encoding="utf-8")


if __name__ == "__main__":
    main()
