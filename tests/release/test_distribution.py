"""What is said of a release, in the files that say it, and what a wheel contains."""

from __future__ import annotations

import re
import tomllib

from support import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_fallback_is_the_newest_version_of_the_changelog() -> None:
    """A copy without git has the version of the last release; the changelog begins with it."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[(\d[^]]*)\]", text, re.MULTILINE)
    assert versions[0] == PROJECT["tool"]["setuptools_scm"]["fallback_version"]


def test_workflows_pin_actions_by_their_commit() -> None:
    """Each action is named by a commit and says which version that is; a tag can be moved."""
    used = [
        line.strip()
        for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if "uses:" in line
    ]
    pinned = re.compile(r"(- )?uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [line for line in used if not pinned.fullmatch(line)] == []
