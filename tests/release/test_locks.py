"""constraints.lock says what constraints.txt says, with a hash for each file that may be installed."""

from __future__ import annotations

import re

from locks import ROOT, WITHOUT_HASHES, versions


def test_the_lock_is_of_these_versions() -> None:
    """Each version is in both files; each in the lock has hashes, but those of which it is said why not."""
    plain, lock = ((ROOT / name).read_text(encoding="utf-8") for name in ("constraints.txt", "constraints.lock"))
    assert versions(lock) == versions(plain), "run  make locks"
    entries = re.split(r"\n(?=\w)", lock)
    without = [entry.split("==")[0].split(">=")[0] for entry in entries if "--hash=sha256:" not in entry]
    assert sorted(without[1:]) == sorted(WITHOUT_HASHES)  # the first is the comment
