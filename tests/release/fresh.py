"""An empty Python, and the internet as far as a test needs it: for tests that run the installation lines that we print.

Most of the internet is the real one: pip and uv fetch all other packages from the index that they use anyway. These
places are stood in for, as they are nobody's, or cannot be reached from everywhere:

- PyTorch's index of CPU builds, where it cannot be reached. The stand-in has the same address, reached by a proxy, and
  what the real one has: `torch` of the version that runs these tests, labelled +cpu, which leads to the PyTorch of
  these tests; and what it requires. Like the real one it has nothing else.
- the hosts `git.example.org`, `wheels.example.org` and `index.example.org` of pretended courses.
"""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import sys
import sysconfig
import threading
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

import trustme
from packaging.requirements import Requirement
from support import ROOT

from grader.course.install import CPU_INDEX

CPU_HOST = urlsplit(CPU_INDEX).hostname or ""
WHEELS, INDEX = "wheels.example.org", "index.example.org"
REPOSITORY = "https://git.example.org/course/tensorgrade"
SOURCES = [
    *("pyproject.toml", "setup.py", "course.yaml", "README.md", "LICENSE", "constraints.txt", "constraints.lock"),
    *("grader", "exercises", "solutions"),
]


class Files(SimpleHTTPRequestHandler):
    """Serves a folder for each host; its lists of files are what an index of packages is."""

    def translate_path(self, path: str) -> str:
        """The file of an address."""
        return super().translate_path(f"/{self.headers['Host'].partition(':')[0]}{path}")

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


class Proxy(BaseHTTPRequestHandler):
    """Leads connections to some hosts to a server of this test, and all others to where they go."""

    hosts: Mapping[str, int]

    def do_CONNECT(self) -> None:
        """Connect, and carry bytes both ways until either end is done."""
        host, _, port = self.path.rpartition(":")
        own = self.hosts.get(host)
        try:
            far = socket.create_connection(("127.0.0.1", own) if own else (host, int(port)), timeout=60)
        except OSError as error:
            self.send_error(502, str(error))
            return
        self.send_response(200)
        self.end_headers()
        with far:
            back = threading.Thread(target=_carry, args=(far, self.connection))
            back.start()
            _carry(self.connection, far)
            back.join()
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def _carry(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:  # the other end is gone: there is nobody to carry to
        return


def is_reached(url: str) -> bool:
    """Whether an address answers."""
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@contextmanager
def internet(folder: Path) -> Iterator[dict[str, str]]:
    """Open the stand-ins; give the variables by which pip, uv and git reach them. Hosts have folders in `folder`."""
    hosts = [WHEELS, INDEX]
    if not is_reached(f"{CPU_INDEX}/torch/"):
        hosts.append(CPU_HOST)
        _cpu_index(folder / CPU_HOST / urlsplit(CPU_INDEX).path.lstrip("/"))
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*hosts).configure_cert(context)
    known = os.environ.get("PIP_CERT") or os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile
    bundle = folder / "certificates.pem"
    bundle.write_bytes((Path(known).read_bytes() if known else b"") + authority.cert_pem.bytes())
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=folder)) as files,
        ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy,
    ):
        files.socket = context.wrap_socket(files.socket, server_side=True)
        Proxy.hosts = dict.fromkeys(hosts, files.server_address[1])
        for server in (files, proxy):
            threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{proxy.server_address[1]}"
        yield {
            **dict.fromkeys(("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"), address),
            **{name: str(bundle) for name in ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")},
            # git's own way to take another place for an address
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{(folder / 'repository').as_uri()}.insteadOf",
            "GIT_CONFIG_VALUE_0": REPOSITORY,
        }
        for server in (files, proxy):
            server.shutdown()


def _cpu_index(folder: Path) -> None:
    """Lay out a stand-in for PyTorch's index of CPU builds."""
    needed = [Requirement(text) for text in metadata.requires("torch") or ()]
    needed = [each for each in needed if not (each.marker and not each.marker.evaluate({"extra": ""}))]
    plain = [
        f"{each.name}{each.specifier}" for each in needed if not each.name.startswith(("nvidia", "triton", "cuda"))
    ]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--dest", f"{folder}/all"]
    subprocess.run([*command, *plain], check=True)
    version = metadata.version("torch").partition("+")[0]
    _torch_wheel(folder / "all", f"{version}+cpu", plain)
    as_index(folder / "all", folder)


def as_index(wheels: Path, folder: Path) -> None:
    """Lay wheels out as an index: a folder for each name."""
    for wheel in sorted(wheels.iterdir()):
        name = wheel.name.partition("-")[0].replace("_", "-").replace(".", "-").lower()
        (folder / name).mkdir(exist_ok=True)
        wheel.rename(folder / name / wheel.name)
    wheels.rmdir()


def _torch_wheel(folder: Path, version: str, needed: list[str]) -> None:
    """A wheel that requires what PyTorch requires, and leads to that of these tests, and to nothing else of theirs."""
    path, about = folder / f"torch-{version}-py3-none-any.whl", f"torch-{version}.dist-info"
    own = folder.parents[2] / "pytorch"
    own.mkdir()
    for name in ("torch", "torchgen", "functorch"):
        if (package := Path(sysconfig.get_path("platlib"), name)).is_dir():
            shutil.copytree(package, own / name, copy_function=_link)  # a sandbox sees this folder, and no other
    files = {
        "torch_of_the_tests.pth": f"{own}\n",
        f"{about}/METADATA": "".join(
            [
                f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n",
                *(f"Requires-Dist: {each}\n" for each in needed),
            ]
        ),
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def empty_python(folder: Path) -> Path:
    """Lay out a Python of its own, which is no virtual environment and has pip alone; give its folder of programs."""
    base, version = Path(sys.base_prefix), f"python{sys.version_info[0]}.{sys.version_info[1]}"
    left_out = ("site-packages", "dist-packages", "test", "tests", "idlelib", "config-*")
    library = folder / "lib" / version
    shutil.copytree(
        base / "lib" / version, library, ignore=shutil.ignore_patterns(*left_out, "EXTERNALLY-MANAGED"), symlinks=True
    )
    (library / "site-packages").mkdir()
    programs = folder / "bin"
    programs.mkdir()
    shutil.copy(Path(sys.base_prefix, "bin", version).resolve(), programs / version)
    for name in ("python", "python3"):
        (programs / name).symlink_to(version)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
    subprocess.run([programs / "python", "-I", "-m", "ensurepip"], check=True, env=env, capture_output=True)
    for name in ("pip", "pip3"):  # ensurepip's name this folder's Python, and copies would install into it
        (programs / name).unlink(missing_ok=True)
        (programs / name).write_text('#!/bin/sh\nexec "$(dirname "$0")/python" -m pip "$@"\n')
        (programs / name).chmod(0o755)
    return programs


def _link(source: str, target: str) -> None:
    """Link a file, which takes no time; copy it where it lies on another disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def linked(source: Path, folder: Path) -> Path:
    """A copy of an empty Python, which takes no time; installers put new files in the place of old ones."""
    shutil.copytree(source, folder, copy_function=_link, symlinks=True)
    return folder / "bin"


def checkout(folder: Path) -> Path:
    """A copy of what of this repository is installed."""
    folder.mkdir(parents=True)
    ignore = shutil.ignore_patterns("__pycache__", ".*")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignore)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder
