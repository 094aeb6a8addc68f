"""The files by which platforms grade: valid by the platforms' schemas, and run here as the platforms run them."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from ci.test_gather import report
from click.testing import CliRunner
from support import COURSES, RIGHT, written

from grader.ci.files import PLATFORMS, JobOptions, autograder_files, package_here, platform_files, write_all
from grader.cli import main
from grader.model import Course
from grader.model.errors import CourseError

pytestmark = pytest.mark.lane

VENDORED = resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
JOB_OPTIONS = JobOptions("tensorgrade==0.1.0", confinement="none")


WORKFLOWS = ["github", "github-class", "gitlab", "gitlab-class", "azure", "circleci"]


class Loader(yaml.SafeLoader):
    """YAML as GitHub reads it: `on` is a word, and no yes."""


Loader.yaml_implicit_resolvers = {
    letter: [(tag, regexp) for tag, regexp in rows if tag != "tag:yaml.org,2002:bool"]
    for letter, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))


def workflow(platform: str, course: Course) -> Any:
    """The one YAML file of a platform."""
    (text,) = [text for path, text in platform_files(platform, JOB_OPTIONS, course).items() if path.endswith(".yml")]
    # The schema of Azure Pipelines takes each value for a text.
    return yaml.load(text, yaml.BaseLoader if platform == "azure" else Loader)


def validate(made: Any, schema: str) -> None:
    known = json.loads((VENDORED / schema).read_text("utf-8"))
    jsonschema.validators.validator_for(known)(known).validate(made)


@pytest.mark.parametrize("platform", WORKFLOWS)
def test_workflows_are_valid(tiny: Course, platform: str) -> None:
    """By the schemas that the platforms publish."""
    schemas = {"github": "github-workflows", "gitlab": "gitlab-ci", "azure": "azure-pipelines", "circleci": "circle-ci"}
    validate(workflow(platform, tiny), f"{schemas[platform.removesuffix('-class')]}.json")


def test_our_own_workflow_is_valid(tiny: Course) -> None:
    """By the same schema, with the same actions as those that we give to others."""
    text = (Path(__file__).parents[2] / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    validate(yaml.load(text, Loader), "github-workflows.json")
    given = b"".join(platform_files("github", JOB_OPTIONS, tiny).values()).decode()
    known_uses = {use.replace("/restore@", "@") for use in re.findall(r"uses: (\S+)", given)}
    assert set(re.findall(r"uses: (\S+)", text)) <= known_uses


@pytest.mark.parametrize("platform", ["github", "github-class"])
def test_workflows_have_least_rights(tiny: Course, platform: str) -> None:
    """They may read, hold no token while student code runs, and pin each action to a commit."""
    made = workflow(platform, tiny)
    (job,) = made["jobs"].values()
    assert made["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in made["on"]
    assert "permissions" not in job
    uses = [step["uses"] for step in job["steps"] if "uses" in step]
    assert uses
    assert all(re.fullmatch(r"actions/[\w/-]+@[0-9a-f]{40}", use) for use in uses)
    (checkout,) = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout")]
    assert checkout["with"]["persist-credentials"] is False
    secret = [step["name"] for step in job["steps"] if "secrets." in json.dumps(step)]
    assert secret == (["Clone the submissions", "Return feedback"] if platform == "github-class" else [])
    assert not [step for step in job["steps"] if "${{" in step.get("run", "")]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_files_are_whole(tiny: Course, platform: str, tmp_path: Path) -> None:
    """Nothing is left to be filled in, shells can read their scripts, and nothing is written over."""
    files = platform_files(platform, JOB_OPTIONS, tiny)
    assert not [path for path, text in files.items() if re.search(rb"@[A-Z]+@", text)]
    write_all(files, tmp_path / "new")
    for path, text in files.items():
        if text.startswith(b"#!"):
            assert (tmp_path / "new" / path).stat().st_mode & stat.S_IXUSR
            subprocess.run(["bash", "-n", tmp_path / "new" / path], check=True)
    with pytest.raises(CourseError, match="is there already"):
        write_all(files, tmp_path / "new")


def test_scripts_of_workflows_are_read_by_a_shell(tiny: Course) -> None:
    """Each step, and the ones of GitLab's jobs."""

    def scripts(made: Any) -> Iterator[str]:
        items = made.items() if isinstance(made, dict) else enumerate(made) if isinstance(made, list) else ()
        for key, inner in items:
            if key in ("run", "script", "before_script", "command") and not isinstance(inner, dict):
                yield from inner if isinstance(inner, list) else [inner]
            else:
                yield from scripts(inner)

    for platform in WORKFLOWS:
        found = list(scripts(workflow(platform, tiny)))
        assert found, platform
        for script in found:
            subprocess.run(["bash", "-n"], input=script, text=True, check=True)


GH = """#!/bin/sh
case "$1 $2 $4" in
"repo view "*) case "$3" in cs1/*) echo --points ;; *) echo --no-points ;; esac ;;
"issue list cs1/ada") echo 7 ;;
"issue list cs1/gone") exit 1 ;;
"issue list "*) ;;
*) echo "$@" >>log; grep -o '[0-9.]* of [0-9.]* points\\|not shown here' feedback.md >>log ;;
esac
"""
"""Stands in for GitHub's own program: `cs1` is private, ada has an issue, and `cs1/gone` cannot be reached."""


def test_feedback_is_an_issue_of_each_student(tiny: Course, tmp_path: Path) -> None:
    """Which is edited the next time; a public repository gets no points; who gets none is named, and the job fails."""
    steps = workflow("github-class", tiny)["jobs"]["grade"]["steps"]
    step = next(step for step in steps if step["name"] == "Return feedback")
    folders = {"cs1--ada": "cs1/ada", "cs1--gone": "cs1/gone", "cs2--bo": "cs2/bo"}
    rows = "".join(f"{folder},{repository},c,t\n" for folder, repository in folders.items())
    written(tmp_path, {f"out/reports/{folder}.json": report(folder, {"a": 3}) for folder in folders})
    written(tmp_path, {"submissions.csv": f"folder,repository,commit,at\n{rows}", "bin/gh": GH})
    put_programs(tmp_path / "bin")
    (tmp_path / "bin" / "gh").chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "TITLE": "Grades: week1"}
    command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
    ran = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (1, "wrote feedback.md")
    assert "::error::cs1/gone got no feedback\n" in ran.stdout
    assert (tmp_path / "log").read_text().splitlines() == [
        "issue edit 7 --repo cs1/ada --body-file feedback.md",
        "3 of 10 points",
        "issue create --repo cs2/bo --title Grades: week1 --body-file feedback.md",
        "not shown here",
    ]


def test_prairielearn_has_a_question(tiny: Course) -> None:
    """Its settings have the keys that PrairieLearn asks for, and each file of the hand-in is named."""
    (handin,) = tiny.handins
    files = platform_files("prairielearn", JobOptions("x", "reduced", handin=handin), tiny)
    info = json.loads(files["info.json"])
    assert {"uuid", "topic"} <= set(info)
    assert (info["type"], info["title"], info["gradingMethod"]) == ("v3", "Week 1", "External")
    assert info["externalGradingOptions"]["enableNetworking"] is False
    assert b'file-names="double.py"' in files["question.html"]
    assert b"--confinement reduced --handin week1" in files["grader/run.sh"]


def test_prairielearn_grades_with_the_secret_of_its_image(tiny: Course, tmp_path: Path) -> None:
    """Each image has its own, and the inputs are those of a student's variant."""
    files, others = (platform_files("prairielearn", JOB_OPTIONS, tiny) for _ in range(2))
    assert files["grader/secret.txt"] != others["grader/secret.txt"]
    home, root = tmp_path / "grader", tmp_path / "grade"
    write_all({path: text for path, text in files.items() if path.startswith("grader/")}, tmp_path)
    put_programs(home / "venv" / "bin")
    (home / "venv" / "bin" / "grade").write_text('#!/bin/sh\necho "$@"\n')  # the arguments are all that counts here
    told = []
    for data in ('{"variant_seed": 7}', "{}"):
        written(root, {"data/data.json": data})
        env = {**os.environ, "GRADE_ROOT": str(root), "GRADER_HOME": str(home)}
        told.append(subprocess.run(["sh", home / "run.sh"], env=env, check=True, capture_output=True, text=True).stdout)
    assert "--author variant-7 " in told[0]
    assert "--author submission " in told[1]
    assert f"--secret-file {home / 'secret.txt'} " in told[0]


# ------------------------------------------------------------------------------------------------ Gradescope's place


def put_programs(folder: Path) -> None:
    """What a platform's set-up would have installed."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, command in (("python", [sys.executable]), ("grade", [sys.executable, "-m", "grader"])):
        (folder / name).write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        (folder / name).chmod(0o755)


def stand_in(root: Path, course: Course, source: str, words: JobOptions = JOB_OPTIONS) -> Path:
    """Gradescope's folders, with what its set-up would have installed."""
    write_all(autograder_files(course, words), root / "source")
    put_programs(root / "source" / "venv" / "bin")
    metadata = {"users": [{"id": 7, "email": "a@b.invalid", "name": "A"}], "assignment": {"total_points": "10.0"}}
    return written(root, {"submission/double.py": source, "submission_metadata.json": json.dumps(metadata)})


def start_autograder(root: Path) -> subprocess.Popen[bytes]:
    """Gradescope's harness."""
    env = {**os.environ, "AUTOGRADER_ROOT": str(root)}
    return subprocess.Popen([root / "source" / "run_autograder"], cwd=root, env=env, start_new_session=True)


def results_of(root: Path) -> Any:
    """What Gradescope reads then."""
    path = root / "results" / "results.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def test_gradescope_keeps_what_was_earned_until_a_time_out(tiny: Course, tmp_path: Path) -> None:
    """What was graded is told, what was not reached is undecided, and what an earlier submission left is gone."""
    root = stand_in(tmp_path / "autograder", tiny, RIGHT)
    endless = "def total(x):\n    while True:\n        pass\n"
    written(root, {"submission/total.py": endless, "results/results.json": '{"score": 1000}'})
    run = start_autograder(root)
    until = time.monotonic() + 240
    while (results := results_of(root)).get("score") != 10 and time.monotonic() < until and run.poll() is None:
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    assert results["score"] == 10
    assert (results["extra_data"]["possible"], results["extra_data"]["undecided"]) == (15, 5)
    *tests, last = results["tests"]
    assert {test["status"] for test in tests} == {"passed"}
    assert {test["visibility"] for test in tests} == {"visible", "after_published"}
    assert (last["name"], "status" in last) == ("01-2 Sum without a loop: Not graded", False)


def test_gradescope_tells_what_stops_it(tiny: Course, tmp_path: Path) -> None:
    """Where grading cannot start there is still a file, which says whose fault that is; there is no score of 0."""
    root = stand_in(tmp_path / "autograder", tiny, RIGHT)
    (root / "source" / "course" / "course.yaml").write_text("title: [\n")
    start_autograder(root).wait(timeout=240)
    results = results_of(root)
    assert "score" not in results
    assert "status 2" in results["output"]
    assert "not your fault" in results["tests"][0]["output"]


def test_the_zip(tmp_path: Path) -> None:
    """Its programs can be started, stand at its top, and the whole course is in it."""
    out = tmp_path / "a.zip"
    words = ["package", "gradescope", "--out", str(out), "--course", str(COURSES / "tiny"), "--package", "a"]
    ran = CliRunner().invoke(main, [*words, "--hidden", "visible"])
    assert ran.exit_code == 0, ran.output
    with zipfile.ZipFile(out) as archive:
        assert "--hidden visible" in archive.read("run_autograder").decode()
        modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
    assert {name for name, mode in modes.items() if mode & stat.S_IXUSR} == {"run_autograder", "setup.sh"}
    assert {"secret.txt", "course/course.yaml", "course/solutions/01_basics/double/check_double.py"} <= set(modes)
    assert not [name for name in modes if "__pycache__" in name]


def test_words_that_are_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A student's folder is no course; options that a platform has no use for, and packages that nobody finds."""
    monkeypatch.chdir(tmp_path)
    text = (COURSES / "tiny" / "course.yaml").read_text()
    text = text.replace("install:\n  address: git+https://git.example.org/course/tensorgrade@v1\n", "")
    written(tmp_path, {".grade-given.json": "{}", "course.yaml": text})
    assert CliRunner().invoke(main, ["package", "gradescope"]).exit_code == 2
    for words, told in (
        (["--package", "a.whl"], "a.whl cannot be read (No such file"),
        (["--package", "https://a.invalid/b"], "is neither a git address"),
        (
            ["--package", "a", "--confinement", "none"],
            "--confinement has no effect on github, which uses --package, --handin",
        ),
        (["--package", "a", "--hidden", "visible"], "--hidden has no effect on github, which uses --package, --handin"),
        (["--package", "a", "--fail-below", "101"], "neither a percentage from 0 to 100 nor never"),
        ([], "this grader was installed from a place that no job has"),
    ):
        ran = CliRunner().invoke(main, ["init-ci", "github", "x", *words])
        assert ran.exit_code == 2, ran.output
        assert told in " ".join(ran.output.split())
        assert not (tmp_path / "x").exists()


def test_a_job_installs_what_was_named(tiny: Course, tmp_path: Path) -> None:
    """A requirement, an address of git's, or a wheel, which comes along; versions are those of our tests."""
    wheel = tmp_path / "tensorgrade-0.1.0-py3-none-any.whl"
    wheel.write_bytes(b"a zip")
    for wanted, line in (
        ("tensorgrade==0.1.0", "tensorgrade==0.1.0"),
        ("git+https://host.invalid/a/b@main", "git+https://host.invalid/a/b@main"),
        (str(wheel), f"./{wheel.name}"),
    ):
        for platform in PLATFORMS:
            files = platform_files(platform, JobOptions(wanted), tiny)
            (folder,) = {path.rpartition("/")[0] for path in files if path.endswith("/requirements.txt")}
            assert files[f"{folder}/requirements.txt"].decode() == f"{line}\n"
            assert b"\ntorch==" in files[f"{folder}/constraints.txt"]
            assert b"\nclick==" in files[f"{folder}/constraints.txt"]
            assert b"--hash=sha256:" in files[f"{folder}/constraints.txt"]
            assert files.get(f"{folder}/{wheel.name}") == (b"a zip" if wanted == str(wheel) else None)


@pytest.mark.parametrize(
    ("install", "lines"),
    [
        ("address: git+https://host.invalid/a/b@v1", "tensorgrade @ git+https://host.invalid/a/b@v1"),
        ("wheel: wheels/tensorgrade-0.1.0-py3-none-any.whl", "./tensorgrade-0.1.0-py3-none-any.whl"),
        ("index: https://host.invalid/simple", "--index-url https://host.invalid/simple\ntensorgrade>=0.1"),
    ],
)
def test_a_job_installs_what_the_course_says(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, install: str, lines: str
) -> None:
    """Without --package, also in a folder of the course; an autograder of Gradescope installs the same."""
    address = "address: git+https://git.example.org/course/tensorgrade@v1"
    text = (home / "course.yaml").read_text().replace(address, install)
    written(home, {"course.yaml": text, "wheels/tensorgrade-0.1.0-py3-none-any.whl": "a zip"})
    monkeypatch.chdir(home / "exercises")
    for words, requirements in (
        (["init-ci", "github", str(tmp_path / "made")], ".github/grade/requirements.txt"),
        (["package", "gradescope", "--out", str(tmp_path / "made" / "a.zip")], "install/requirements.txt"),
    ):
        ran = CliRunner().invoke(main, words)
        assert ran.exit_code == 0, ran.output
        if words[0] == "package":
            zipfile.ZipFile(tmp_path / "made" / "a.zip").extractall(tmp_path / "made")
        made = tmp_path / "made" / requirements
        assert made.read_text() == f"{lines}\n"
        assert (made.parent / "tensorgrade-0.1.0-py3-none-any.whl").exists() == ("wheel" in install)


@pytest.mark.parametrize(
    ("origin", "package"),
    [
        (
            {"url": "https://h.invalid/a/b", "vcs_info": {"vcs": "git", "commit_id": "c1"}},
            "git+https://h.invalid/a/b@c1",
        ),
        (
            {"url": "https://h.invalid/tensorgrade-1-py3-none-any.whl"},
            "https://h.invalid/tensorgrade-1-py3-none-any.whl",
        ),
        ({"url": "file:///a%20b/tensorgrade-1-py3-none-any.whl"}, "/a b/tensorgrade-1-py3-none-any.whl"),
        (
            {"url": "file:///home/me/grader", "vcs_info": {"vcs": "git", "commit_id": "c1"}},
            "from a place that no job has",
        ),
        ({"url": "file:///home/me/grader", "dir_info": {"editable": True}}, "from a place that no job has"),
        (None, "by its name, and no installer records from which index"),
    ],
)
def test_a_job_installs_what_is_installed_here(
    monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any] | None, package: str
) -> None:
    """What pip and uv write down of an installation says it; what no job could install is refused."""

    class Installed:
        def read_text(self, name: str) -> str | None:
            return json.dumps(origin) if name == "direct_url.json" and origin else None

    monkeypatch.setattr(metadata, "distributions", lambda **names: [Installed()])
    try:
        told = package_here()
    except CourseError as error:
        told = str(error)
    assert package in told


def test_a_job_grades_as_was_wished(tiny: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One hand-in, and from which score on it is green: a copy with one exercise solved is not red all term."""
    monkeypatch.chdir(COURSES / "tiny")
    words = ["--package", "tensorgrade", "--handin", "week1", "--fail-below", "60"]
    for platform in ("github", "gitlab", "jenkins", "azure", "circleci"):
        ran = CliRunner().invoke(main, ["init-ci", platform, str(tmp_path / platform), *words])
        assert ran.exit_code == 0, ran.output
        texts = [path.read_text() for path in (tmp_path / platform).rglob("*") if path.is_file()]
        assert sum("--handin week1 --fail-below 60" in text for text in texts) == 1
        assert (tmp_path / platform / "grade-results" / ".gitignore").read_text() == "*\n!.gitignore\n"


@pytest.mark.parametrize(("status", "writes", "ends"), [(0, True, 0), (3, True, 0), (124, True, 0), (2, False, 2)])
def test_classroom50_keeps_its_result(tiny: Course, tmp_path: Path, status: int, writes: bool, ends: int) -> None:
    """Its autograder ends with 0 where there is a result: that of another status is thrown away. A forged one goes."""
    write_all(platform_files("classroom50", JOB_OPTIONS, tiny), tmp_path / "bundle")
    grade = f"echo $* >&2; exit {status}"
    programs = {"python": "true", "uv": "true", "grade": f"echo '{{}}' >result.json; {grade}" if writes else grade}
    written(tmp_path, {f"temp/grade/bin/{name}": f"#!/bin/sh\n{script}\n" for name, script in programs.items()})
    written(tmp_path, {"path/python3": "#!/bin/sh\n", "student/result.json": "forged"})  # no new venv is made
    for path in (*(tmp_path / "temp/grade/bin").iterdir(), tmp_path / "path/python3"):
        path.chmod(0o755)
    env = {**os.environ, "CLASSROOM50_BUNDLE_DIR": str(tmp_path / "bundle"), "RUNNER_TEMP": str(tmp_path / "temp")}
    env["PATH"] = f"{tmp_path / 'path'}{os.pathsep}{env['PATH']}"
    command = [sys.executable, str(tmp_path / "bundle" / "autograder.py")]
    ran = subprocess.run(command, cwd=tmp_path / "student", env=env, capture_output=True, text=True, check=False)
    assert (ran.returncode, "--fail-below never" in ran.stderr) == (ends, True), ran.stderr
    result = tmp_path / "student" / "result.json"
    assert (result.read_text().strip() if result.exists() else "") == ("{}" if writes else "")
