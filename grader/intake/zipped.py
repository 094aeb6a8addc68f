"""Files → a zip that is the same byte for byte wherever and whenever it is made."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Collection, Mapping

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in it: the first that a zip can tell."""

EPOCH_SECONDS = 315_532_800
"""The same time on a disk."""
FILE_MODE = stat.S_IFREG | 0o644
_UNIX = 3


def zip_bytes(files: Mapping[str, bytes], programs: Collection[str] = ()) -> bytes:
    """A zip of files by their paths: sorted names, one time, one mode, nothing that tells of this machine.

    Args:
        files: what is in it.
        programs: those of them that can be started.
    """
    # Stored, not deflated: what comes out of that depends on the version of zlib. The files are small.
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, EPOCH)
            info.create_system = _UNIX
            info.external_attr = (FILE_MODE | 0o111 * (name in programs)) << 16
            archive.writestr(info, files[name])
    return target.getvalue()
