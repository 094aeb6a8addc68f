"""Writes constraints.lock: the versions of constraints.txt, each with the hashes of its files. `make locks` runs it.

An installer refuses a file whose hash is another one. PyTorch has none, as its index for machines without CUDA has
other files than PyPI, and setuptools none, as other packages say which of its versions builds them. Needs uv.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WITHOUT_HASHES = ("torch", "setuptools")
HEAD = "# The versions of constraints.txt with the hashes of their files, for uv; `make locks` writes them anew.\n"


def versions(text: str) -> dict[str, str]:
    """The lines of a file of constraints, by the normalized names of packages."""
    lines = re.findall(r"^([A-Za-z0-9][\w.-]*?)((?:==|>=)[^\s;\\]+)", text, re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in lines}


def main() -> None:
    """Ask the index of packages that uv uses for the hashes."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    plain = [line for line in lines if re.split("[=>]=", line)[0] in WITHOUT_HASHES]
    hashed = "".join(line for line in lines if line not in plain)
    ours = ("--no-deps", "--universal", "--python-version", "3.11", "--generate-hashes")
    quiet = ("--quiet", "--no-annotate", "--no-header", "--no-emit-index-url")
    command = [os.environ.get("UV", "uv"), "pip", "compile", *ours, *quiet, "-"]
    ran = subprocess.run(command, input=hashed, stdout=subprocess.PIPE, text=True, check=True)
    (ROOT / "constraints.lock").write_text(HEAD + ran.stdout + "".join(plain), encoding="utf-8")


if __name__ == "__main__":
    main()
