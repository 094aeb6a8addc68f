"""The processes of ours: how each is started, how it ends, and how the folders are removed that it leaves.

Each is started by name, in an isolated interpreter, never by import of its package. The host hands over its own
absolute search path, so that a cluster's modules and a user's site-packages still work; the working folder, a
submission's folder, and the folder that a checkout of this project lies in are left out.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import stat
import sys

_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
_MOST_LINKS = 20
_NEEDED = ("torch", "numpy")
_INHERITED = (
    *("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
    "CUDA_VISIBLE_DEVICES",
)

_TUNABLES = ":".join(
    f"glibc.malloc.{name}"
    for name in (
        *("hugetlb=1", "arena_max=4", "tcache_count=0"),
        *(f"mmap_threshold={32 << 20}", f"trim_threshold={1 << 30}"),
    )
)
"""Huge pages make a fork cheaper; with few arenas a thread does not take 64 MB of address space, which is limited.

Without caches of its threads, malloc fills all memory that it allocates, if so configured (`worker.surroundings`).

The thresholds keep memory that a call gave back. Without them, some processes get each result of 100 kB
from the kernel anew, page by page, and the same function takes twice the CPU time.
"""

_INSTALLED = tuple(f"{inside}{kind}-packages" for inside in ("", "*/") for kind in ("site", "dist"))
"""Where a folder of libraries has installed packages."""

GRACE_S = 5.0
"""How long a process that has nothing more to do may take to end."""

_BOOT = """
import importlib.util, json, os, runpy, sys
path, package, module = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
sys.path[:] = sys.path if path is None else path
spec = importlib.util.spec_from_file_location("grader", os.path.join(package, "__init__.py"),
                                              submodule_search_locations=[package])
sys.modules["grader"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["grader"])
sys.argv[:] = sys.argv[3:]
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


def isolated_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of this package in a fresh interpreter.

    For `isolated_command("grader.sandbox.zygote", "3")` it begins with the interpreter and `-I`, and ends with
    "grader.sandbox.zygote" and "3". The interpreter ignores the working folder, and gets our own search path.
    """
    flags = ["-I", "-B", "-X", "utf8"]
    return [sys.executable, *flags, "-c", _BOOT, json.dumps(_search_path()), _PACKAGE, module, *arguments]


def isolated_plain_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of this package without other packages.

    The interpreter has the standard library alone.
    """
    flags = ["-I", "-S", "-B", "-X", "utf8"]
    return [os.path.realpath(sys.executable), *flags, "-c", _BOOT, "null", _PACKAGE, module, *arguments]


def clean_environment(**extra: str) -> dict[str, str]:
    """Return the environment of our processes: few variables of the user's, and `extra`.

    `clean_environment(A="1")` has `A`, PATH and other variables on an allowlist, and one thread for linear algebra, so
    that no thread is started before a fork. So it has no secret, and no option of the user's that changes a verdict.
    """
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**inherited, **threads, **extra}


def workers_environment() -> dict[str, str]:
    """Return the environment of workers.

    It is that of our other processes, with a fixed hash seed and settings of malloc.
    """
    return clean_environment(PYTHONHASHSEED="0", GLIBC_TUNABLES=_TUNABLES)


def interpreter_paths() -> list[str]:
    """Return the absolute paths that our processes read code from.

    They are those of the interpreter, of packages, of libraries, and of this package, such as `/opt/venv`.
    """
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    folders = [path for prefix in prefixes for path in _folders_of_prefix(prefix)]
    paths = [*folders, *_search_path(), *_library_folders(), *_link_targets(sys.executable), _PACKAGE]
    return [path for path in dict.fromkeys(paths) if os.path.isabs(path)]


def workers_paths() -> tuple[list[str], list[str]]:
    """Return the paths that workers may read, and folders of which they see the file names.

    The paths are those of `interpreter_paths`. But if PYTHONPATH has a folder `/home/ada/lib`, only what is installed
    in it is returned, such as `/home/ada/lib/numpy`: her own files may lie beside that. The folder itself is in the
    second list, as Python cannot look into it without the names.
    """
    named = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.isdir(path)]
    folders = {os.path.abspath(path) for path in named} | {os.path.realpath(path) for path in named}
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    strange = {path for path in folders if not any(_is_in(path, prefix) for prefix in prefixes)}
    paths = [path for path in interpreter_paths() if path not in strange]
    return [*paths, *(path for folder in sorted(strange) for path in _installed_in(folder))], sorted(strange)


def plain_paths() -> tuple[list[str], list[str]]:
    """Return the paths that workers with the standard library alone may read.

    Returns:
        The paths, and the folders in them that stay hidden: all that packages are installed in, also those of the
        system's own Python.
    """
    from pathlib import Path  # here, as a typed command waits for the imports of this module

    program, prefixes = os.path.realpath(sys.executable), {sys.base_prefix, sys.base_exec_prefix}
    libraries = {os.path.realpath(f"{prefix}/{name}") for prefix in prefixes for name in ("lib", "lib64")}
    libraries |= {os.path.realpath(path) for path in _library_folders()}
    systems = {f"{top}/{name}" for top in ("/usr", "/usr/local") for name in ("lib", "lib64")}
    found = (path for top in libraries | systems for pattern in _INSTALLED for path in Path(top).glob(pattern))
    shown = [path for path in (*sorted(libraries), _PACKAGE) if os.path.exists(path)]
    return [*shown, program], sorted({os.path.realpath(path) for path in found})


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _library_folders() -> list[str]:
    """Return the absolute paths in LD_LIBRARY_PATH."""
    return [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(":") if os.path.isabs(path)]


def _installed_in(folder: str) -> list[str]:
    """Return the paths of what is installed in a folder: packages, modules and metadata.

    `/home/ada/lib/numpy` is one for `/home/ada/lib`. PyTorch and NumPy are found without metadata, too: somebody may
    have built them in place.
    """
    from importlib import metadata  # as above

    names = {name for name in _NEEDED if os.path.exists(os.path.join(folder, name))}
    for distribution in metadata.distributions(path=[folder]):
        for file in distribution.files or ():
            top = file.parts[0]
            if top not in ("..", "__pycache__") and not os.path.isabs(top):
                names.add(top)
    return sorted(os.path.join(folder, name) for name in names)


def _folders_of_prefix(prefix: str) -> list[str]:
    """Return the folders that a Python installation with this prefix has its files in.

    `/opt/venv` returns `["/opt/venv"]`. `/usr` returns `["/usr/lib", "/usr/lib64"]`, since other programs share it.
    """
    return [f"{prefix}/lib", f"{prefix}/lib64"] if prefix in ("/", "/usr", "/usr/local") else [prefix]


def _link_targets(path: str) -> list[str]:
    """Return a path, and each path that its symbolic links lead to.

    If `/opt/venv/bin/python` is a link to `/usr/bin/python3`, and this to `python3.11`, the result has these two paths
    and `/usr/bin/python3.11`.
    """
    paths = [path]
    while os.path.islink(paths[-1]) and len(paths) < _MOST_LINKS:
        paths.append(os.path.join(os.path.dirname(paths[-1]), os.readlink(paths[-1])))
    return paths


def _search_path() -> list[str]:
    left_out, around = {os.getcwd()}, os.path.dirname(_PACKAGE)
    if os.path.isfile(os.path.join(around, "pyproject.toml")):  # a checkout; else it is where packages are installed
        left_out.add(around)
    entries = (os.path.normpath(entry) for entry in sys.path if entry and os.path.isabs(entry))
    return [entry for entry in entries if os.path.exists(entry) and os.path.realpath(entry) not in left_out]


def kill(pid: int) -> None:
    """Kill a process that may be gone already."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)


def bind_in(folder: str, name: str, sock: socket.socket) -> None:
    """Bind a Unix socket to a name in a folder, on Linux.

    The path of the folder may be longer than the address of a socket.

    Args:
        folder: the path of the folder.
        name: the name of the socket in the folder.
        sock: the socket that is bound.
    """
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        sock.bind(f"/proc/self/fd/{descriptor}/{name}")
    finally:
        os.close(descriptor)


def remove_folder(folder: str) -> None:
    """Remove a folder and everything in it.

    Files that this user has no right to remove stay. Inner folders are moved up first: no path here gets longer than
    two names, and nothing recurses. Links are removed and never followed. The folder must not change meanwhile.
    """
    before: set[str] = set()
    # Until nothing is left, or nothing that this user can remove.
    while (entries := _entries(folder)) and (names := {entry.name for entry in entries}) != before:
        before = names
        for entry in entries:
            _remove_entry(entry, folder)
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def _remove_entry(entry: os.DirEntry[str], up: str) -> None:
    """Remove a file, or a folder with its files.

    The folders in it are moved into the folder `up` before that.
    """
    inner = _entries(entry.path) if entry.is_dir(follow_symlinks=False) else None
    for each in inner or ():
        with contextlib.suppress(OSError):
            if each.is_dir(follow_symlinks=False):
                os.rename(each.path, os.path.join(up, os.urandom(16).hex()))
            else:
                os.unlink(each.path)
    remove = os.unlink if inner is None else os.rmdir
    with contextlib.suppress(OSError):
        remove(entry.path)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with contextlib.suppress(OSError):
        os.chmod(folder, stat.S_IRWXU)
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
