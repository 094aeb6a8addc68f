"""How much the separate processes cost in two exercises of the bundled course, next to plain pytest sessions.

Sides are `grade batch`, and a plain `pytest -q` session in which the same checks call the student's module directly,
without any isolation (`unisolated.py`). Both are whole commands, start-up included, and take turns. The course is a
copy of `predict_strides` and `fix_the_loop` without checks that measure speed, as these need workers, and without known
wrong answers, as a plain session names none. As many checks must pass here as there.

    python benchmarks/against_pytest.py [--submissions 50] [--rounds 3] [--lanes 1 --lanes 2] [--against d2f5de22]
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import builds
import click
import yaml

from grader.course.answers import read_answer
from grader.course.load import load_course
from grader.model import Exercise, Verdict

IDS = ("predict_strides", "fix_the_loop")
TARGETS = {1: 1.5, 2: 1.0}
"""By number of lanes: our seconds as a ratio to those of `pytest -q`."""

SESSION = "pytest -q"


def make_course(folder: Path, exercises: Sequence[Exercise], root: Path) -> None:
    """Copy exercises of a build without checks that measure speed, and without known wrong answers."""
    lines = ["title: Two exercises", "modules:"]
    for exercise in exercises:
        module = exercise.folder.parent.name
        lines += [f"  - folder: {module}", f"    title: {module}", f"    exercises: [{exercise.id}]"]
        for half in ("exercises", "solutions"):
            own = Path(half, module, exercise.id)
            left_out = shutil.ignore_patterns("wrong", "wrong.yaml", "right", "right.yaml", "__pycache__", "check_*")
            shutil.copytree(root / own, folder / own, ignore=left_out)
            for file in (root / own).glob("check_*.py"):
                (folder / own / file.name).write_text(without_speed(file.read_text("utf-8")), "utf-8")
        file = folder / "exercises" / module / exercise.id / "exercise.yaml"
        keys = yaml.safe_load(file.read_text("utf-8"))
        keys.pop("needs", None)  # exercises that are not copied
        file.write_text(yaml.safe_dump(keys), "utf-8")
    shutil.copy(root / "exercises" / "topics.yaml", folder / "exercises")
    (folder / "course.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def without_speed(text: str) -> str:
    """Return a check file without its checks of speed."""
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if not _is_speed_check(node)]
    return ast.unparse(tree)


def _is_speed_check(node: ast.stmt) -> bool:
    """Return whether a statement is a check of speed: `@check(..., category="performance")`."""
    calls = [each for each in getattr(node, "decorator_list", ()) if isinstance(each, ast.Call)]
    words = {word.arg: ast.unparse(word.value) for call in calls for word in call.keywords}
    return words.get("category") == "'performance'"


def make_class(folder: Path, exercises: Sequence[Exercise], count: int) -> None:
    """Lay out submissions of wrong and right answers in turn."""
    for number in range(count):
        path = folder / f"author{number:04}"
        path.mkdir(parents=True)
        for exercise in exercises:
            # A plain session takes no package away, so that more checks would pass there.
            answers = [read_answer(exercise, file) for file in (exercise.right if number % 2 else exercise.wrong)]
            allowed = [one for one in answers if number % 2 or not _needs(one.source, exercise.without)]
            answer = allowed[number // 2 % len(allowed)]
            (path / exercise.file_name).write_bytes(answer.source)


def _needs(source: bytes, packages: Sequence[str]) -> bool:
    """Return whether a file imports one of these packages."""
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    return any(alias.name in packages for node in imports for alias in node.names)


def ours(build: builds.Build, work: Path, course: Path, lanes: int, passed: Counter[str]) -> float:
    """Grade the class with `grade batch`, put the number of passed checks into `passed`, and return the seconds."""
    out = Path(tempfile.mkdtemp(dir=work)) / "out"
    options: list[str | Path] = ["--out", out, "-j", str(lanes), "--course", course, "-q"]
    ran = builds.run(build.grade("batch", work / "class", *options), work, build.environment())
    if ran.status:
        raise click.ClickException(f"grade batch ended with {ran.status}:\n{ran.text}")
    reports = [json.loads(file.read_text("utf-8")) for file in out.rglob("*.json")]
    rows = [check for report in reports for item in report.get("exercises", ()) for check in item["checks"]]
    passed[f"{build.name} on {lanes}"] = sum(row["verdict"] == Verdict.PASSED.value for row in rows)
    return ran.wall


def unisolated(exercises: Sequence[Exercise], folder: Path, passed: Counter[str]) -> float:
    """Run a plain pytest session on all submissions in a folder, as `ours` grades them, and return the seconds."""
    files = [str(path) for item in exercises for path in (item.shown_checks, item.hidden_checks) if path is not None]
    ini = str(builds.ROOT / "grader" / "check_process" / "pytest.ini")
    own = ["-c", ini, "--import-mode=importlib", "-p", "no:cacheprovider", "-p", "unisolated", *files]
    paths = os.pathsep.join((str(Path(__file__).parent), str(builds.ROOT)))
    environment = os.environ | {"CLASS": str(folder), "PYTHONPATH": paths, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ran = builds.run([sys.executable, "-m", "pytest", "-q", *own], environment=environment)
    found = re.search(r"(\d+) passed", ran.text)
    if found is None:
        raise click.ClickException(f"the plain session failed:\n{ran.text}")
    passed[SESSION] = int(found[1])
    return ran.wall


@click.command(help=__doc__)
@click.option("--submissions", default=50)
@click.option("--lanes", multiple=True, type=int, default=(1, 2))
@builds.rounds
@builds.against
def main(submissions: int, lanes: tuple[int, ...], rounds: int, against: tuple[str, ...]) -> None:
    """Time a plain pytest session and `grade batch` of each build in turn; print the ratios."""
    exercises = [exercise for exercise in load_course(builds.ROOT).exercises if exercise.id in IDS]
    passed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="two-exercises-") as folder, builds.opened(against) as found:
        work = Path(folder)
        make_class(work / "class", exercises, submissions)
        sides: dict[str, Callable[[], float]] = {SESSION: partial(unisolated, exercises, work / "class", passed)}
        for build in found:
            course = work / "courses" / build.name.replace("/", "_")
            make_course(course, exercises, build.root)  # in the words of its own checks
            sides |= {_name(build, count): partial(ours, build, work, course, count, passed) for count in lanes}
        taken = builds.in_turns(sides, rounds)
    mine = {passed[name] for name in (SESSION, *(f"{found[0].name} on {count}" for count in lanes))}
    if len(mine) != 1:
        raise click.ClickException(f"not as many checks pass on both sides: {dict(passed)}")
    for count in lanes:
        builds.ratio(taken, _name(found[0], count), SESSION, TARGETS.get(count))
        for build in found[1:]:
            builds.ratio(taken, _name(found[0], count), _name(build, count))


def _name(build: builds.Build, lanes: int) -> str:
    return f"{build.name} on {lanes} lane{'s'[: lanes - 1]}"


if __name__ == "__main__":
    main()
