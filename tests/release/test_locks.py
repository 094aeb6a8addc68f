"""uv.lock, constraints.txt and constraints.lock say the same, and constraints.lock has the hashes of files."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from urllib.parse import urlsplit

from locks import OF_CUDA, ROOT, WITHOUT_HASHES, versions

LOCK = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
PACKAGES = [package for package in LOCK["package"] if "editable" not in package["source"]]  # not our own


def test_the_lock_is_of_these_versions() -> None:
    """Each version is in both files; each in the lock has hashes, but those of which it is said why not."""
    plain, lock = ((ROOT / name).read_text(encoding="utf-8") for name in ("constraints.txt", "constraints.lock"))
    assert versions(lock) == versions(plain), "run  make locks"
    entries = re.split(r"\n(?=\w)", lock)
    without = [entry.split("==")[0].split(">=")[0] for entry in entries if "--hash=sha256:" not in entry]
    assert sorted(without[1:]) == sorted(WITHOUT_HASHES)  # the first is the comment


def test_constraints_are_made_of_the_lock() -> None:
    """One version of each package for every Python; but for those of CUDA, constraints.txt has the same ones."""
    assert [name for name, times in Counter(package["name"] for package in PACKAGES).items() if times > 1] == []
    locked = {package["name"]: f"=={package['version']}" for package in PACKAGES}
    wanted = {name: version for name, version in locked.items() if not OF_CUDA.match(name)} | {"setuptools": ">=77"}
    assert versions((ROOT / "constraints.txt").read_text(encoding="utf-8")) == wanted, "run  make locks"


def test_the_lock_names_no_mirror() -> None:
    """All files come from PyPI, whichever index was used to write the lock."""
    files = [file["url"] for package in PACKAGES for file in [package.get("sdist"), *package.get("wheels", [])] if file]
    assert {urlsplit(url).hostname for url in files} == {"files.pythonhosted.org"}
    assert {package["source"]["registry"] for package in PACKAGES} == {"https://pypi.org/simple"}


def test_pre_commit_runs_the_pinned_programs() -> None:
    """A program that is installed for tests has one version here and there."""
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    pins = versions((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    used = dict(re.findall(r'\["([\w-]+)(==[^"]+)"\]', text))
    assert {name: version for name, version in used.items() if pins.get(name, version) != version} == {}
    assert {"ruff", "check-jsonschema"} <= used.keys() & pins.keys()
