#!/usr/bin/env bash
# pytest with reruns, subtests and reports: what programs read of a run that pytest calls passed or failed.
#
# Guess before the run: JUnit's file and pytest-json-report's have each test once, with the outcome that the terminal and
# the exit status have: that of the last run.
# Seen with pytest 9.2.0, pytest-rerunfailures 16.7 and pytest-json-report 1.5.0, each test run alone:
#   a test that always fails, 2 reruns            exit 1; JUnit: tests="1" and 3 test cases, of which 2 have no failure,
#                                                 which means passed
#   a subtest that fails once, 2 reruns           exit 0, "1 passed"; JUnit: failures="1" and a case that failed
#   two subtests that pass, no reruns             exit 0, "1 passed"; JUnit: tests="3" and one test case;
#                                                 JSON: outcome "subtests passed", nothing is "passed"
# A grader that counts cases without a failure awards two thirds for the first test and nothing for the second; one that
# counts "passed" in the JSON awards nothing for the third. What helps: to take the last case of each name, and failed
# or not in place of passed or not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} \
    pytest==9.2.0 pytest-rerunfailures==16.7 pytest-json-report==1.5.0 pytest-metadata==3.1.1
cat > "$folder/test_them.py" <<'PY'
runs = []


def test_always_fails():
    assert False


def test_subtest_fails_once(subtests):
    runs.append(None)
    with subtests.test("first"):
        assert len(runs) > 1


def test_subtests_pass(subtests):
    for number in range(2):
        with subtests.test(number=number):
            assert number < 2
PY
cat > "$folder/read.py" <<'PY'
import json
import subprocess
import sys
import xml.etree.ElementTree as ET

folder = sys.argv[1]
expected = {
    "test_always_fails": (1, {"tests": "1", "failures": "1"}, ["passed", "passed", "failed"], "failed"),
    "test_subtest_fails_once": (0, {"tests": "3", "failures": "1"}, ["failed", "passed"], "subtests passed"),
    "test_subtests_pass": (0, {"tests": "3", "failures": "0"}, ["passed"], "subtests passed"),
}
same = True
for name, wanted in expected.items():
    reruns = [] if name == "test_subtests_pass" else ["--reruns=2"]
    reports = [f"--junitxml={folder}/junit.xml", "--json-report", f"--json-report-file={folder}/report.json"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *reruns, *reports]
    run = subprocess.run([*command, f"{folder}/test_them.py::{name}"], capture_output=True, text=True)
    suite = ET.parse(f"{folder}/junit.xml").getroot().find("testsuite")
    cases = ["failed" if case.find("failure") is not None else "passed" for case in suite.findall("testcase")]
    counts = {key: suite.get(key) for key in ("tests", "failures")}
    [outcome] = [test["outcome"] for test in json.load(open(f"{folder}/report.json"))["tests"]]
    seen = (run.returncode, counts, cases, outcome)
    print(f"{name}: exit {seen[0]} ({run.stdout.splitlines()[-1]}), JUnit {counts} {cases}, JSON {outcome!r}")
    same = same and seen == wanted
sys.exit(0 if same else "the behaviour has changed")
PY
"$folder/venv/bin/python" "$folder/read.py" "$folder"
