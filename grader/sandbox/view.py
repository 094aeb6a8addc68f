"""The root that workers see: interpreter, packages, system libraries, a few devices and settings, a private folder."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox import kernel

PRIVATE = "/home/student"
"""Where each worker has a file system of its own."""

WORK = f"{PRIVATE}/work"
"""The folder of the submission, in a root of our own."""

PRIVATE_PARENT = "/home"
"""A rule about the private file system must name this: Landlock passes over the folder that a mount covers."""

DEVICES = ("null", "zero", "full", "random", "urandom")
_PRIVATE_FOLDERS = ("tmp", "shm", "work")
_LINKS = {"tmp": f"{PRIVATE}/tmp", "var/tmp": f"{PRIVATE}/tmp", "dev/shm": f"{PRIVATE}/shm"}  # noqa: S108  of our own root
_SYSTEM = (
    *(f"{top}/{name}" for top in ("", "/usr") for name in ("lib", "lib32", "lib64", "libx32")),
    *("/usr/share/zoneinfo", "/nix/store", "/gnu/store"),
)
_SKELETON = "mode=755,size=4m,nr_inodes=10000"
_PROCESSOR = "/sys/devices/system/cpu"
_HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage"
_READ = ("/proc/cpuinfo", f"{_HUGE_PAGES}/enabled", f"{_HUGE_PAGES}/hpage_pmd_size")
COPIED = tuple(filter(os.path.exists, _READ))
"""What PyTorch reads to learn which instructions it may use, and the C library whether there are huge pages."""

_SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/timezone")
# Programs ask for the user's name and home; without these files that raises in honest code.
_WRITTEN = {
    "etc/passwd": "student:x:1000:1000:student:/home/student:/bin/false\n",
    "etc/group": "student:x:1000:\n",
    "etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@dataclass(frozen=True)
class FileView:
    """The view that workers have of the machine's files.

    Attributes:
        shown: absolute folders and files: the interpreter and its packages. What does not exist is left out.
        hidden: absolute folders that stay hidden where they lie inside a shown one.
        listed: folders in which names are seen, where there is no root of our own: in ours it holds what is shown.
    """

    shown: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()

    def folders(self) -> list[str]:
        """Return the paths that workers see, the outermost first.

        If `shown` has `/opt/a` and `/opt/a/lib`, only `/opt/a` is returned, together with folders of the system such as
        `/usr/lib`. Hidden folders are left out. A path of `shown` is returned even if it lies in a hidden folder, such
        as a virtual environment in the folder of a course.
        """
        hidden = {os.path.realpath(path) for path in self.hidden}
        named = (*self.shown, *_SYSTEM, _PROCESSOR, *_SETTINGS)
        places = {place for path in named for place in (path, os.path.realpath(path))}
        parts = {part for place in places if os.path.exists(place) for part in _visible_parts(place, hidden)}
        outermost: list[str] = []
        # The outermost first: what is inside a folder that is shown already need not be shown again.
        for part in sorted(parts, key=lambda path: (path.count("/"), path)):
            if not any(part.startswith(outer + "/") for outer in outermost if not os.path.islink(outer)):
                outermost.append(part)
        return outermost


def _visible_parts(place: str, hidden: set[str]) -> Iterator[str]:
    """Yield a path that workers may see; of a folder with hidden folders, its other items.

    If `/a` has `x` and `y`, and `/a/x` is hidden, `/a` yields `/a/y`. A hidden path yields nothing.

    Args:
        place: the path.
        hidden: the folders that workers must not see.
    """
    if place in hidden:
        return
    if not os.path.islink(place) and any(path.startswith(place.rstrip("/") + "/") for path in hidden):
        for name in os.listdir(place):
            yield from _visible_parts(f"{place.rstrip('/')}/{name}", hidden)
    else:
        yield place


def build_root(view: FileView) -> None:
    """Mount a new root over /proc, and enter it. Needs a mount namespace of its own.

    Raises:
        OSError: the kernel refuses a step.
    """
    root = "/proc"  # in which nothing lies that is shown
    # Before anything is mounted: afterwards /proc is covered.
    folders, copies = view.folders(), {path: Path(path).read_bytes() for path in COPIED}
    # Private, or each mount would appear on the machine outside as well.
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", root, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, _SKELETON)
    for path in folders:
        with contextlib.suppress(FileNotFoundError):  # it went since its folder was listed
            _mount_in_root(root, path)
    _fill_root(root)
    for path, content in copies.items():
        os.makedirs(os.path.dirname(root + path), exist_ok=True)
        Path(root + path).write_bytes(content)
    kernel.enter_root(root)
    # Last, when all is in its place.
    kernel.set_mount_flags("/", kernel.MOUNT_ATTR_RDONLY, recursive=False)


def _mount_in_root(root: str, path: str) -> None:
    """Mount a folder or file of the machine in the new root, read-only.

    A symbolic link is copied.
    """
    target = root + path
    if os.path.lexists(target) and not os.path.isdir(target):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(path):
        os.symlink(os.readlink(path), target)
        return
    if stat.S_ISDIR(os.stat(path).st_mode):
        os.makedirs(target, exist_ok=True)
    else:
        _touch(target)
    kernel.mount(path, target, "", kernel.MS_BIND | kernel.MS_REC)
    # Recursive: a folder may hold mounts of its own, which come along and would stay writable.
    flags = kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV
    kernel.set_mount_flags(target, flags, recursive=True)


def _fill_root(root: str) -> None:
    for folder in ("dev", "etc", "var", PRIVATE):
        os.makedirs(f"{root}/{folder.lstrip('/')}", exist_ok=True)
    for name in DEVICES:
        _touch(f"{root}/dev/{name}")
        kernel.mount(f"/dev/{name}", f"{root}/dev/{name}", "", kernel.MS_BIND)
    for name, target in _LINKS.items():
        if not os.path.lexists(f"{root}/{name}"):  # there is one where an interpreter lives in /tmp
            os.symlink(target, f"{root}/{name}")
    for name, text in _WRITTEN.items():
        Path(root, name).write_text(text, encoding="ascii")


def mount_private(size_mb: int, files: int) -> None:
    """Mount a private, capped file system with empty folders for work and temporary files.

    Args:
        size_mb: the MiB that all its files may take.
        files: the number of files and folders that it may have.
    """
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("tmpfs", PRIVATE, "tmpfs", flags, f"mode=755,size={size_mb}m,nr_inodes={files}")
    for name in _PRIVATE_FOLDERS:
        os.mkdir(f"{PRIVATE}/{name}", mode=0o700)


def _touch(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644))
