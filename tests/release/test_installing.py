"""Every installation line that we print works in an empty Python, and installs PyTorch without CUDA.

`fresh.py` says what of the internet is stood in for. Lines are run as they are printed; in the files of platforms these
are replaced, as no test has them: `apt-get` does nothing, and the version of Python is that of these tests.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from release import fresh
from support import COURSES, ROOT, WarmGrade, commit, git, written

from grader.ci import files as ci_files
from grader.ci.files import PLATFORMS
from grader.cli import main

pytestmark = [pytest.mark.network, pytest.mark.slow, pytest.mark.timeout(1800)]  # packages are downloaded

INSTALLS = re.compile(r"\b(pip|pipx|tool) install\b")
BLOCK = re.compile(r"```(?:console|bash|sh)\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class World:
    """What lines are run with: an empty Python, a checkout, a wheel of it, and the internet."""

    folder: Path
    checkout: Path
    wheel: Path
    env: dict[str, str]

    def run(self, place: Path, lines: str, cwd: Path, more: tuple[Path, ...] = ()) -> str:
        """Run lines in a new Python, whose home is `place`; give the output."""
        programs = fresh.linked(self.folder / "python", place / "python")
        paths = (*more, place / ".local" / "bin", programs, self.folder / "stand-ins")
        env = {**self.env, "PATH": ":".join([*map(str, paths), "/usr/bin", "/bin"]), "HOME": str(place)}
        command = ["bash", "-e", "-o", "pipefail", "-c", lines]
        ran = subprocess.run(command, cwd=cwd, env=env, text=True, capture_output=True, check=False)
        assert ran.returncode == 0, f"{lines}\n{ran.stdout[-4000:]}{ran.stderr[-4000:]}"
        return ran.stdout

    def prove(self, place: Path) -> Path:
        """Prove that the one `grade` that was installed there works, with PyTorch without CUDA; give the program."""
        (grade,) = {path.resolve() for path in place.rglob("bin/grade")}
        python = grade.parent / "python"
        env = {**self.env, "PATH": "/usr/bin:/bin", "HOME": str(place)}
        told = "from importlib.metadata import version; print(version('torch'))"
        words: list[list[str | Path]] = [[python, "-c", told], [grade, "start", place / "course"]]
        version, started = (
            subprocess.run(each, env=env, text=True, capture_output=True, check=True).stdout for each in words
        )
        assert version.strip().endswith("+cpu")
        assert "exercises are in" in started
        return grade


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Made once: it takes most of the time."""
    folder = tmp_path_factory.mktemp("world")
    source, net = fresh.checkout(folder / "tensorgrade"), folder / "net"
    fresh.empty_python(folder / "python")
    stand_in = folder / "stand-ins" / "apt-get"
    written(folder, {"stand-ins/apt-get": "#!/bin/sh\n", "empty/x": ""})
    stand_in.chmod(0o755)
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder / "wheel", source], check=True)
    (wheel,) = (folder / "wheel").iterdir()
    written(net, {f"{fresh.WHEELS}/{wheel.name}": wheel.read_bytes()})
    index = net / fresh.INDEX / "simple"
    no_torch = ["--constraint", f"{ROOT}/constraints.txt", "--no-deps", "--dest", f"{index}/all"]
    needed = re.findall(r"^([\w-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    ours = [name for name in needed if name.lower() in _NEEDED]
    subprocess.run([*pip, "download", "--quiet", "--only-binary=:all:", *no_torch, *ours], check=True)
    shutil.copy(wheel, index / "all")
    fresh.as_index(index / "all", index)
    shutil.copytree(source, net / "repository")
    git(net / "repository", "init", "-q", "-b", "main")
    commit(net / "repository", {})
    git(net / "repository", "tag", "v1")
    with fresh.internet(net) as env:
        env |= {"PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", "UV_PYTHON_DOWNLOADS": "never", "LANG": "C.UTF-8"}
        env |= {"PIP_CACHE_DIR": str(folder / "pip"), "UV_CACHE_DIR": str(folder / "uv")}
        env |= {name: os.environ[name] for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX") if name in os.environ}
        yield World(folder, source, wheel, env)


_NEEDED = {
    *("click", "jinja2", "markupsafe", "numpy", "packaging", "pydantic", "pydantic-core", "pytest"),
    *("annotated-types", "typing-inspection", "typing-extensions", "iniconfig", "pluggy", "pygments", "pyyaml"),
    *("pytest-timeout", "watchfiles", "anyio", "idna", "sniffio", "rich", "markdown-it-py", "mdurl"),
}
"""All that the grader needs but PyTorch, for an index of a course's own."""


def lines_of(text: str) -> list[str]:
    """Of each block of a page that installs something, the lines that are typed."""
    blocks = [re.findall(r"^\$ (.*)", block, re.MULTILINE) for block in BLOCK.findall(text)]
    return ["\n".join(block) for block in blocks if any(map(INSTALLS.search, block))]


def uv_in(world: World, place: Path) -> Path:
    """The folder of the program uv, installed as the files of platforms do it."""
    python = fresh.linked(world.folder / "python", place) / "python"
    env = {**world.env, "PATH": "/usr/bin:/bin", "HOME": str(place)}
    subprocess.run([python, "-m", "pip", "install", "--quiet", f"uv=={ci_files.UV}"], env=env, check=True)
    return _alone(place / "bin" / "uv", place / "uv-alone")


def _alone(program: Path, folder: Path) -> Path:
    folder.mkdir()
    (folder / program.name).symlink_to(program)
    return folder


def test_lines_of_the_readme(world: World, tmp_path: Path) -> None:
    """By uv, and by pip: in a checkout, as the page says."""
    uv = uv_in(world, tmp_path / "uv")
    blocks = lines_of((ROOT / "README.md").read_text("utf-8"))
    assert len(blocks) == 2
    for number, block in enumerate(blocks):
        place = tmp_path / str(number)
        place.mkdir()
        world.run(place, block, world.checkout, (uv,))
        world.prove(place)


INSTALL = {
    "address": f"git+{fresh.REPOSITORY}@v1",
    "url": f"https://{fresh.WHEELS}/WHEEL",
    "wheel": "WHEEL",
    "index": f"https://{fresh.INDEX}/simple",
}


@pytest.mark.parametrize("kind", INSTALL)
def test_lines_of_a_copy(world: World, type_grade: WarmGrade, tmp_path: Path, kind: str) -> None:
    """A student follows the copy's README, whatever `install` says; the notebooks say the same, from their folder."""
    root = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    data = yaml.safe_load((root / "course.yaml").read_text())
    key = "address" if kind == "url" else kind
    data["install"] = {key: INSTALL[kind].replace("WHEEL", world.wheel.name)}
    (root / "course.yaml").write_text(yaml.safe_dump(data))
    shutil.copy(world.wheel, root)
    ran = type_grade("release", str(tmp_path / "copy"), "--notebooks", cwd=root)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    copy = tmp_path / "copy"
    (block,) = lines_of((copy / "README.md").read_text())
    assert block.endswith("\ngrade")
    shutil.copy(root / "solutions/01_basics/double/double.py", copy / "exercises/01_basics/double/double.py")
    place = tmp_path / "home"
    place.mkdir()
    told = world.run(place, f"{block} double", copy)
    assert "5 / 5 points, 5 more at hand-in" in told
    world.prove(place)
    cell = json.loads((copy / "notebooks/01_basics.ipynb").read_text())["cells"][1]["source"]
    printed = [line.removeprefix("# %").strip() for line in cell if INSTALLS.search(line)]
    assert [line.replace("../", "./") for line in printed] == block.split("\n")[:-1]
    if kind == "wheel":
        (tmp_path / "other").mkdir()
        world.run(tmp_path / "other", "\n".join(printed), copy / "notebooks")
        world.prove(tmp_path / "other")


def scripts_of(platform: str, folder: Path, place: Path) -> tuple[str, Path]:
    """The steps of a platform's files that install something, as one script, and where it is run."""
    if platform == "prairielearn":
        text = (folder / "grader" / "Dockerfile").read_text().replace("\\\n", " ")
        shutil.copytree(folder / "grader" / "install", place / "grader" / "install")
        steps = re.findall(r"^RUN (.*)$", text, re.MULTILINE)[:2]
        return "\n".join(steps).replace("/grader/", f"{place}/grader/").replace(
            "rm -rf /var/lib/apt/lists/*", "true"
        ), place
    if platform == "gradescope":
        lay = place / "autograder" / "source"
        shutil.copytree(folder, lay)
        return f"export AUTOGRADER_ROOT={place}/autograder\n{(lay / 'setup.sh').read_text()}", place
    if platform == "classroom50":
        install = (folder / "grade.sh").read_text().partition("timeout")[0]
        return f"export CLASSROOM50_BUNDLE_DIR={folder} RUNNER_TEMP={place}\n{install}", place
    if platform == "jenkins":
        found = re.findall(r"sh '''(.*?)'''|sh '(.*?)'\n", (folder / "Jenkinsfile").read_text(), re.DOTALL)
        return "\n".join(text for pair in found for text in pair if "install" in text), folder
    if platform == "github-class":  # the course is checked out in a folder of its own
        shutil.copytree(folder, folder / "course")
    (file,) = [
        path for path in (*folder.glob("**/*.yml"), *folder.glob(".devcontainer/*.json")) if "course" not in path.parts
    ]
    return "\n".join(_scripts(yaml.safe_load(file.read_text()))), folder


def _scripts(data: Any) -> Iterator[str]:
    """The scripts in a platform's file that install something."""
    for inner in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        if isinstance(inner, str) and (INSTALLS.search(inner) or "apt-get" in inner):
            yield inner
        else:
            yield from _scripts(inner)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_lines_of_platforms(world: World, tmp_path: Path, platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a job installs is what the course says: here a wheel, which lies beside the other files."""
    root = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    text = (
        (root / "course.yaml")
        .read_text()
        .replace("address: git+https://git.example.org/course/tensorgrade@v1", "wheel: W")
    )
    (root / "course.yaml").write_text(text.replace("wheel: W", f"wheel: {world.wheel.name}"))
    shutil.copy(world.wheel, root)
    monkeypatch.setattr(ci_files, "PYTHON", f"{sys.version_info[0]}.{sys.version_info[1]}")
    monkeypatch.chdir(root)
    ran = CliRunner().invoke(main, ["init-ci", platform, str(tmp_path / "made")])
    assert ran.exit_code == 0, ran.output
    place = tmp_path / "home"
    place.mkdir()
    script, cwd = scripts_of(platform, tmp_path / "made", place)
    assert "-r requirements.txt" in script
    world.run(place, script, cwd)
    world.prove(place)


def test_lines_of_messages_and_pages(world: World, tmp_path: Path) -> None:
    """What a command lacks is installed by the names of others' packages; pages say the same."""
    told = {}
    for extra in ("cluster", "similarity", "web"):
        with pytest.raises(Exception, match="install it") as raised:
            from grader.report.console import explain_missing_package

            with explain_missing_package("what it needs", extra):
                raise ImportError("x")
        told[extra] = str(raised.value).partition("install it with  ")[2].rstrip(")")
    pages = "".join(path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md"))
    assert all(f"`{line}`" in pages for line in told.values())
    world.run(tmp_path, "\n".join(told.values()), tmp_path)


@pytest.mark.parametrize(
    ("tags", "version"), [([], "0.1.1.dev1"), (["week1", "v2026"], "0.1.1.dev1"), (["v0.7.0"], "0.7.0")]
)
def test_the_version_of_a_checkout(world: World, tmp_path: Path, tags: list[str], version: str) -> None:
    """A release's tag is the version; no other tag is, and without one there is the fallback."""
    # What the wheel of the fixture left there is no part of a checkout.
    left = shutil.ignore_patterns("*.egg-info", "build")
    source = Path(shutil.copytree(world.checkout, tmp_path / "source", ignore=left))
    git(source, "init", "-q", "-b", "main")
    commit(source, {})
    for tag in tags:
        git(source, "tag", tag)
    lines = "pip wheel --quiet --no-deps --wheel-dir ../built .; ls ../built"
    assert world.run(tmp_path, lines, source).strip() == f"tensorgrade-{version}-py3-none-any.whl"


def test_no_other_line_installs() -> None:
    """What else in our files has words of an installer is not printed for anybody, or installs what others own."""
    known = {
        "README.md", "docs/first-hour.md", "docs/grading-a-class.md", "docs/ci.md", "docs/students.md", "Makefile",
        "docs/web.md", "docs/porting.md", "docs/cuda-without-gpu.md", "packages/simulated-cuda/README.md",
        "container/Dockerfile",
        ".ci/try-installed", ".github/workflows/release.yml", ".github/workflows/tests.yml",
        "constraints.txt", "constraints.lock", "exercises/13_distributed/README.md",
    }  # fmt: skip
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    skipped = ("tests/", "benchmarks/", "CHANGELOG.md", "grader/ci/templates/", "grader/release/templates/")
    names = [name for name in listed.split("\0") if name and not name.startswith(skipped)]
    texts = {name: (ROOT / name).read_bytes().decode("utf-8", "replace") for name in names}
    found = {name: [line for line in text.splitlines() if INSTALLS.search(line)] for name, text in texts.items()}
    assert {name for name, lines in found.items() if lines and not name.endswith(".py")} <= known
    by_name = re.compile(r"install\b[^#]*[\s\"'](tensorgrade)\b(?!/|-VERSION|\s*@)")
    assert [(name, line) for name, lines in found.items() for line in lines if by_name.search(line)] == []
