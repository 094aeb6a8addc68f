"""What is said of a release, in the files that say it, and what a wheel contains."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest
from support import ROOT

pytestmark = [pytest.mark.lane, pytest.mark.slow]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_fallback_is_the_newest_version_of_the_changelog() -> None:
    """A copy without git has the version of the last release; the changelog begins with it."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[(\d[^]]*)\]", text, re.MULTILINE)
    assert versions[0] == PROJECT["tool"]["setuptools_scm"]["fallback_version"]


def test_both_distributions_have_the_version_of_the_tag() -> None:
    """The simulated GPU is released with the grader, from the same tag, and by the same rules."""
    own = tomllib.loads((ROOT / "packages/simulated-cuda/pyproject.toml").read_text(encoding="utf-8"))
    assert own["project"]["dynamic"] == ["version"]
    assert own["tool"]["setuptools_scm"] == {**PROJECT["tool"]["setuptools_scm"], "root": "../.."}


def test_nobody_can_install_our_tools_as_an_extra() -> None:
    """Extras are what users install; what developers need is in dependency groups, which a wheel does not have."""
    assert set(PROJECT["project"]["optional-dependencies"]) == {"cluster", "notebook", "similarity", "web"}


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


SCHEMAS = [
    (".github/workflows/*.yml", "github-workflows"),
    (".github/ISSUE_TEMPLATE/[!c]*.yml", "github-issue-forms"),
    (".github/ISSUE_TEMPLATE/config.yml", "github-issue-config"),
    (".github/dependabot.yml", "dependabot"),
    ("CITATION.cff", "citation-file-format"),
]


@pytest.mark.parametrize(("pattern", "schema"), SCHEMAS, ids=[schema for _, schema in SCHEMAS])
def test_files_for_github_follow_their_schemas(pattern: str, schema: str) -> None:
    """GitHub shows a form that it cannot read to nobody, without a word."""
    files = [str(path) for path in ROOT.glob(pattern)]
    assert files
    program = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    ran = subprocess.run([*program, *files], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_fragments_have_a_kind_and_a_sentence() -> None:
    """A fragment that towncrier does not know would be left out of the changelog, without a word."""
    kinds = [kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"]]
    named = re.compile(rf"\+[a-z0-9-]+\.({'|'.join(kinds)})\.md")
    files = [path for path in (ROOT / "changes").iterdir() if path.name != "README.md"]
    assert [path.name for path in files if not named.fullmatch(path.name)] == []
    assert [path.name for path in files if not path.read_text(encoding="utf-8").strip().endswith(".")] == []
