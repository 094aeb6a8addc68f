"""What our workflows and the container's image name exists: extras, groups, programs, files."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def commands() -> Iterator[tuple[str, list[str]]]:
    """The words of each line that a step runs, with the name of its workflow."""
    for path in WORKFLOWS:
        for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
            for step in job["steps"]:
                for line in step.get("run", "").splitlines():
                    yield path.name, shlex.split(line.replace("${{ ", "${{").replace(" }}", "}}"), comments=True)


def test_extras_and_groups_exist() -> None:
    """An installer only warns of an extra that is not there; the tests then lack what it should have brought."""
    extras, groups = PROJECT["project"]["optional-dependencies"], PROJECT["dependency-groups"]
    named = [
        (name, extra) for name, words in commands() for word in words for extra in re.findall(r"\[([\w-]+)\]", word)
    ]
    assert [row for row in named if row[1] not in extras] == []
    used = [(name, line[line.index("--group") + 1]) for name, line in commands() if "--group" in line]
    assert used
    assert [row for row in used if row[1] not in groups] == []


def test_files_exist() -> None:
    """Each file of ours that a step runs or tests is there."""
    ours = re.compile(r"(?:tests|gpu|tools|benchmarks|examples|\.ci)/[\w./-]+")
    named = {word for _, words in commands() for word in words if ours.fullmatch(word)}
    assert {"tests/statements.py", ".ci/try-installed", "gpu/programs/autoencoder.py"} <= named
    assert {word for word in named if not (ROOT / word).exists()} == set()


def test_the_matrix_has_the_versions_that_the_page_names() -> None:
    """The page of the simulated GPU names builds of PyTorch that CI runs, and no version of CI is missing there."""
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))["jobs"]
    linux, gpu = (jobs[name]["strategy"]["matrix"]["include"] for name in ("linux", "accelerator"))
    run = {(row["torch"], row["build"]) for row in gpu} | {(row["torch"], "for the CPU") for row in linux}
    page = (ROOT / "docs" / "cuda-without-gpu.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| (\d[\d.]+) \| (for the CPU|for CUDA)", page, re.MULTILINE))
    assert named - run == set()
    assert {version for version, _ in named} == {version for version, _ in run}


def test_no_step_changes_what_tests_compare() -> None:
    """`make test` compares constraints.txt with uv.lock: another PyTorch is installed over it, not written into it."""
    assert [words for _, words in commands() if words[:2] == ["sed", "-i"]] == []


def test_the_image_gets_what_it_copies() -> None:
    """`.dockerignore` lets through what the Dockerfile copies, and nothing else of a checkout."""
    lines = (ROOT / "container" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = {source for line in lines if line.startswith("COPY ") for source in shlex.split(line)[1:-1]}
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in ignored if line and not line.startswith("#")]
    assert rules[0] == "*"
    assert {line[1:] for line in rules if line.startswith("!")} == copied
    assert {source for source in copied if not (ROOT / source).exists()} == set()
