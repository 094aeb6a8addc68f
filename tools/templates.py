"""Runs each template of `grade init-ci` from end to end in a clean root, and prints what came out: see docs/ci.md.

A root is a folder with a fresh system, such as debootstrap makes, with Python, venv and certificates in it. Each
platform gets a new layer above it, in which nothing is installed. What a platform would do, this program does: it takes
the steps out of the file that `init-ci` wrote, and runs them as they stand. Needs Linux, root and bubblewrap.

    debootstrap --variant=minbase --include=python3,python3-venv,python-is-python3,ca-certificates bookworm ROOT
    python tools/templates.py ROOT WHEEL [PLATFORM]... ["--replace=OLD=>NEW"] [--copy=PATH] [--env=NAME=VALUE]

`--replace` changes the steps where the root cannot do what they say: another Python, or no index of PyTorch's own.
`--replace`, `--copy` and `--env` may be given several times.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

HOME = Path(__file__).parents[1]
HANDIN, EXERCISES = "week1", ("02_memory/predict_strides", "07_vectorise/fix_the_loop")
SOLVED = {"nothing": 0, "half": 1, "all": 2}
"""How many of the hand-in's exercises a student has solved."""

SLOW = """
import time


def _slow(*values):
    time.sleep(15)


for _name in [name for name, value in globals().items() if callable(value) and name[0] != "_"]:
    globals()[_name] = _slow
"""
"""After this each call of a file takes almost all the time that it gets, so that a limit strikes in the middle."""

CLASS_LIMIT = "12"
"""Seconds after which the first run over a class is ended in the middle."""

COURSE = ("course.yaml", "exercises", "solutions")

PLATFORM = {
    "github": {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": "/repo", "GITHUB_OUTPUT": "/repo/grade-results/outputs"},
    "gitlab": {"GITLAB_CI": "true", "CI_PROJECT_DIR": "/repo", "CI_PROJECT_VISIBILITY": "private"},
}
"""What a runner sets. GitHub does not say here that the repository is private, so it counts as public."""

SERVER = {"GITHUB_SERVER_URL": "file:///server", "CI_SERVER_URL": "file:///server"}


def grade(*words: str, cwd: Path = HOME) -> str:
    """Run `grade` of this checkout."""
    command = [sys.executable, "-m", "grader", *words]
    return subprocess.run(command, cwd=cwd, check=True, text=True, stdout=subprocess.PIPE).stdout


def steps_of(platform: str, repository: Path) -> list[str]:
    """Return the scripts of a platform's file, in the order in which it runs them."""
    names = ("*.yml", "*/config.yml", ".github/workflows/*.yml", "Jenkinsfile", "*/devcontainer.json")
    file = next(path for name in names for path in repository.glob(name) if path.name != "course.yaml")
    text = file.read_text()
    if platform == "jenkins":
        found = re.findall(r"sh '''(.*?)'''|sh '(.*?)'\n", text, re.DOTALL)
        return [long or short for long, short in found]
    data: Any = yaml.safe_load(text)
    if platform in ("github", "github-class"):
        return [step["run"] for step in data["jobs"]["grade"]["steps"] if "run" in step and "sudo" not in step["run"]]
    if platform == "gitlab":
        return [*data["grade"]["before_script"], *data["grade"]["script"]]
    if platform == "gitlab-class":
        return [*data["default"]["before_script"], *data["clone"]["script"], *data["grade"]["script"]]
    if platform == "azure":
        return [step["script"] for step in data["jobs"][0]["steps"] if "script" in step]
    if platform == "circleci":
        return [step["run"]["command"] for step in data["jobs"]["grade"]["steps"] if "run" in step]
    return [data["postCreateCommand"]]


class Place:
    """A new layer above a root. Scripts run in it with namespaces, or in a chroot, which gives none."""

    def __init__(self, root: Path, folder: Path, words: argparse.Namespace) -> None:
        self.path, self._words = folder / "merged", words
        for name in ("upper", "work", "merged"):
            (folder / name).mkdir()
        layers = f"lowerdir={root},upperdir={folder / 'upper'},workdir={folder / 'work'}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, self.path], check=True)
        subprocess.run(["mount", "-t", "proc", "proc", self.path / "proc"], check=True)
        shutil.copy("/etc/resolv.conf", self.path / "etc" / "resolv.conf")
        for copied in words.copy:
            target = self.path / copied.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-rT", copied, target], check=True)

    def changed(self, script: str) -> str:
        """Return a script changed so that this root can run it."""
        for change in self._words.replace:
            old, _, new = change.partition("=>")
            script = script.replace(old, new)
        return script

    def run(
        self, script: str, cwd: str, *, namespaces: bool = True, environ: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a script; its output has both streams."""
        script = self.changed(script)
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", "LANG": "C.UTF-8"}
        env |= dict(pair.partition("=")[::2] for pair in self._words.env) | dict(environ or {})
        where = ["bwrap", "--bind", str(self.path), "/", "--proc", "/proc", "--dev", "/dev", "--chdir", cwd]
        if not namespaces:
            where = ["chroot", str(self.path), "env", f"--chdir={cwd}"]
        command = [*where, "bash", "-e", "-o", "pipefail", "-c", script]
        return subprocess.run(
            command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )


@contextmanager
def place(root: Path, words: argparse.Namespace) -> Iterator[Place]:
    """Yield a file system with a new writable layer above a root, and unmount it afterwards."""
    with tempfile.TemporaryDirectory(prefix="templates-", ignore_cleanup_errors=True) as name:
        made = Place(root, Path(name), words)
        try:
            yield made
        finally:
            subprocess.run(["umount", "-R", "-l", made.path], check=False)


def hand_in(target: Path, solved: str, *, flat: bool = False) -> None:
    """Copy a student's files to a folder: the reference of each solved exercise, the starter of each other one."""
    for number, exercise in enumerate(EXERCISES):
        name = f"{exercise}/{exercise.rpartition('/')[2]}.py"
        file = target / Path(name).name if flat else target / "exercises" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HOME / ("solutions" if number < SOLVED.get(solved, 1) else "exercises") / name, file)
    if solved == "slow":
        file.write_text(file.read_text() + SLOW)


def lay_course(folder: Path) -> None:
    """Copy the whole course to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-r", *COURSE, folder], cwd=HOME, check=True)


def say(platform: str, case: str, text: str) -> None:
    """Print a line of the result."""
    print(f"{platform:<13} {case:<15} {text}", flush=True)


def in_a_repository(platform: str, words: argparse.Namespace) -> None:
    """Run the templates for a student's repository, and print how each case ends."""
    with place(words.root, words) as here:
        repository = here.path / "repo"
        grade("start", str(repository))
        options = [] if platform == "devcontainer" else ["--handin", HANDIN]
        grade("init-ci", platform, str(repository), "--package", str(words.wheel), *options)
        *install, last = steps_of(platform, repository)
        if platform == "devcontainer":
            install, last = [last], "grade doctor && grade list"
        begun = time.monotonic()
        if not installed(platform, here.run("\n".join(install), "/repo"), begun):
            return
        made = repository / "grade-results"
        cases = {**{solved: (last, solved, True) for solved in SOLVED}, "no namespaces": (last, "all", False)}
        if platform != "devcontainer":
            cases["limit"] = last.replace(" 20m", f" {words.limit}"), "slow", True
        for case, (script, solved, namespaces) in cases.items():
            if words.case and case not in words.case:
                continue
            hand_in(repository, solved)
            made.mkdir(exist_ok=True)
            (made / "report.json").write_text("committed by a student")
            ran = here.run(script, "/repo", namespaces=namespaces, environ=PLATFORM.get(platform))
            say(platform, case, f"status {ran.returncode}; {ran.stdout.splitlines()[-1:]}")
            keep(words, platform, case, ran.stdout, made)


def keep(words: argparse.Namespace, platform: str, case: str, log: str, made: Path) -> None:
    """Copy the log of a run, and the files that it made, to the folder of results."""
    target = words.out / f"{platform}-{case.replace(' ', '-')}"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    (target / "log").write_text(log)
    if made.exists():
        subprocess.run(["cp", "-r", made, target], check=True)


def build(here: Place, folder: Path, words: argparse.Namespace) -> subprocess.CompletedProcess[str]:
    """Do what `docker build` does with a Dockerfile: COPY and RUN, line by line."""
    ran = subprocess.CompletedProcess[str]([], 0, "", "")
    for line in (folder / "Dockerfile").read_text().replace("\\\n", " ").splitlines():
        word, _, rest = line.partition(" ")
        if word == "COPY":
            *sources, target = rest.split()
            goal = here.path / target.lstrip("/")
            (goal if target.endswith("/") else goal.parent).mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-r", *sources, goal], cwd=folder, check=True)
        elif word == "RUN" and not ran.returncode:
            ran = here.run(rest, "/")
    return ran


def in_an_image(platform: str, words: argparse.Namespace) -> None:
    """Run the templates of Gradescope or PrairieLearn, which grade in an image, and print how each case ends."""
    with place(words.root, words) as here, tempfile.TemporaryDirectory() as name:
        begun, draft = time.monotonic(), Path(name)
        options = ("--handin", HANDIN, "--package", str(words.wheel))
        if platform == "gradescope":
            told = grade("package", "gradescope", *options, "--out", f"{draft}/a.zip")
            say(platform, "package", told.splitlines()[-1])
            top = here.path / "autograder"
            zipfile.ZipFile(draft / "a.zip").extractall(top / "source")
            ran = here.run((top / "source" / "setup.sh").read_text(), "/autograder")
            course, submission, script = (
                top / "source/course",
                top / "submission",
                "bash /autograder/source/run_autograder",
            )
        else:
            grade("init-ci", platform, str(draft), *options)
            lay_course(draft / "grader" / "course")
            ran = build(here, draft / "grader", words)
            top = here.path / "grade"
            course, submission, script = here.path / "grader/course", top / "student", "sh /grader/run.sh"
        results = top / "results" / "results.json"
        if not installed(platform, ran, begun):
            return

        def attempt(case: str, solved: str, *, namespaces: bool = True, **environ: str) -> None:
            if words.case and case not in words.case:
                return
            shutil.rmtree(submission, ignore_errors=True)
            hand_in(submission, solved, flat=True)
            ran = here.run(script, "/", namespaces=namespaces, environ=environ)
            made = json.loads(results.read_text())
            facts = {key: made[key] for key in ("score", "gradable", "output", "message") if key in made}
            say(
                platform,
                case,
                f"status {ran.returncode}; {json.dumps(facts)[:300]}; {len(made.get('tests', ()))} tests",
            )
            keep(words, platform, case, ran.stdout, results)

        for solved in SOLVED:
            attempt(solved, solved)
        attempt("no namespaces", "all", namespaces=False)
        attempt("limit", "slow", GRADE_SECONDS=words.limit)
        (course / "course.yaml").write_text("title: [\n")
        attempt("broken course", "all")


def installed(platform: str, ran: subprocess.CompletedProcess[str], begun: float) -> bool:
    """Print a line about an installation, and return whether it succeeded."""
    took = f"{time.monotonic() - begun:.0f} s"
    say(platform, "install", f"status {ran.returncode}: {ran.stdout[-600:]}" if ran.returncode else took)
    return not ran.returncode


def of_a_class(platform: str, words: argparse.Namespace) -> None:
    """Run the templates for a course's private repository, which grades a class, and print how each case ends."""
    with place(words.root, words) as here:
        top = here.path / "job"
        course = top / "course" if platform == "github-class" else top
        lay_course(course)
        grade("init-ci", platform, str(course), "--handin", HANDIN, "--package", str(words.wheel))
        repositories = [*(f"cs1/{solved}" for solved in SOLVED), "cs2/all"]
        for name in repositories:
            home = here.path / "server" / f"{name}.git"
            hand_in(home, name.rpartition("/")[2])
            for command in ("init -q", "add .", "commit -q -m x"):
                who = ["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid"]
                subprocess.run([*who, *command.split()], cwd=home, check=True)
        (course / "class.txt").write_bytes("\r\n".join(["# the class", "", *repositories, ""]).encode())
        env = SERVER | {"HANDIN": HANDIN, "CLASS_TOKEN": "hush"}
        env |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        *install, clone, batch = (step for step in steps_of(platform, course) if "gh repo" not in step)
        if platform == "github-class":
            install.insert(0, "apt-get update -qq && apt-get install -y -qq git")  # a runner has it
        begun = time.monotonic()
        ran = here.run("\n".join(install), "/job", environ=env)
        if not installed(platform, ran, begun):
            return

        def attempt(case: str, *, namespaces: bool = True, limit: str = "5h") -> None:
            shutil.rmtree(top / "submissions", ignore_errors=True)
            first = here.run(clone, "/job", environ=env)
            ran = here.run(batch.replace(" 5h", f" {limit}"), "/job", namespaces=namespaces, environ=env)
            statuses = f"clone: status {first.returncode}; batch: status {ran.returncode}"
            say(platform, case, f"{statuses}; {ran.stdout.splitlines()[-2:]}")
            keep(words, platform, case, first.stdout + ran.stdout, top / "out" / "gradebook.csv")

        attempt("limit", limit=CLASS_LIMIT)
        attempt("goes on")
        with (course / "class.txt").open("a") as file:
            file.write("cs1/missing\n")
        attempt("one missing")
        shutil.rmtree(top / "out")
        attempt("no namespaces", namespaces=False)
        (course / "course.yaml").write_text("title: [\n")
        attempt("broken course")


def main() -> None:
    """Run the platforms that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("platforms", nargs="*")
    parser.add_argument("--out", type=Path, default=HOME / "out" / "templates")
    parser.add_argument("--limit", default="60", help="seconds after which a run is ended in the middle")
    parser.add_argument("--case", action="append", default=[], help="only these cases, except of a class")
    for name in ("--replace", "--copy", "--env"):
        parser.add_argument(name, action="append", default=[])
    words = parser.parse_args()
    kinds = {
        "github-class": of_a_class,
        "gitlab-class": of_a_class,
        "gradescope": in_an_image,
        "prairielearn": in_an_image,
    }
    for platform in words.platforms or ("github", "gitlab", "jenkins", "azure", "circleci", "devcontainer", *kinds):
        kinds.get(platform, in_a_repository)(platform, words)


if __name__ == "__main__":
    main()
