"""A power cut in the midst of a batch: what the system kept in memory is gone, what was synced is there.

Only what this process syncs by `os.fsync` is taken for written: files by their content at that moment, names by their
folder. The file of a journal itself is taken as it is, as SQLite syncs that by itself, in the order that it needs; the
log beside it, to which all results go first, is not.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import stat
from pathlib import Path
from unittest import mock

from batch.pretend import PretendClass

JOURNAL = "journal.sqlite"


class Disk:
    """What was synced.

    Args:
        folder: what is in it already was written long ago.

    Attributes:
        contents: of files, by their inode.
        names: in folders, by their path: the inode of each.
    """

    def __init__(self, folder: Path) -> None:
        there = {path.name: path for path in folder.iterdir() if path.is_file()}
        self.contents = {path.stat().st_ino: path.read_bytes() for path in there.values()}
        self.names = {str(folder.resolve()): {name: path.stat().st_ino for name, path in there.items()}}
        self._sync = os.fsync

    def sync(self, descriptor: int) -> None:
        """In place of `os.fsync`."""
        self._sync(descriptor)
        path, status = os.readlink(f"/proc/self/fd/{descriptor}"), os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            self.names[path] = {entry.name: entry.inode() for entry in os.scandir(path)}
        else:
            self.contents[status.st_ino] = Path(path).read_bytes()

    def leave(self, folder: Path, to: Path) -> None:
        """Write what would be found in a folder after a power cut."""
        to.mkdir(parents=True)
        for name, inode in self.names.get(str(folder.resolve()), {}).items():
            if not (folder / name).is_dir():
                (to / name).write_bytes(self.contents.get(inode, b""))
        if (folder / JOURNAL).exists():
            shutil.copy(folder / JOURNAL, to / JOURNAL)


def grade_until_a_cut(made: PretendClass, after: int) -> bool:
    """Grade in a process of its own until so many authors were told of, then cut the power; whether that was reached.

    The folder of results is then what is found when the power is back.
    """

    def run() -> None:
        disk = Disk(made.out)

        def told() -> None:
            if len(made.told) == after:
                disk.leave(made.out, made.out.with_name("found"))
                os._exit(9)

        made.on_told = told
        with mock.patch.object(os, "fsync", disk.sync):
            made.grade()
        os._exit(0)

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join()
    if process.exitcode != 9:
        return False
    shutil.rmtree(made.out)
    made.out.with_name("found").rename(made.out)
    return True
