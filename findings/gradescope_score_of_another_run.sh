#!/usr/bin/env bash
# gradescope-utils: partial credit of a test method that runs more than once in a process.
#
# Guess before the run: `set_score` is for the run that calls it; a run that fails before it has 0 points.
# Seen with gradescope-utils 0.5.0, a test of 10 points that calls set_score(points(answer)):
#   class First, which gets 7 points, then class Second, which inherits the test and raises   -> 7 and 7 points
#   Second alone                                                                              -> 0 points
#   one class, first submission 10 points, second one raises     -> 10 points for both; the second is "failed", with the
#                                                                   message of its error beside 10.0 of 10
#   with set_score(0) as the test's first statement              -> 10 and 0
# `partial_credit` keeps the score on the function, which inheriting classes and all later runs share, and nothing takes
# it away before a run. So a course that writes its tests once in a base class, or grades a folder of submissions in a
# loop, gives a submission that crashes the points of the one before it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} gradescope-utils==0.5.0
"$folder/venv/bin/python" - <<'PY'
import importlib.metadata
import io
import json
import sys
import unittest

from gradescope_utils.autograder_utils.decorators import partial_credit
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner


def classes() -> tuple[type, type]:
    """Return two classes, fresh ones each time, that inherit one test; the second one's answer raises."""

    class Base:
        @partial_credit(10)
        def test_answer(self, set_score=None):
            set_score(self.answer())

        @partial_credit(10)
        def test_zero_first(self, set_score=None):
            set_score(0)
            set_score(self.answer())

    class First(Base, unittest.TestCase):
        answer = staticmethod(lambda: 7)

    class Second(Base, unittest.TestCase):
        answer = staticmethod(lambda: 1 / 0)

    return First, Second


def run(*tests: unittest.TestCase) -> list[tuple]:
    """Return score and status of each test in results.json."""
    text = io.StringIO()
    JSONTestRunner(stream=text).run(unittest.TestSuite(tests))
    return [(test["score"], test["status"]) for test in json.loads(text.getvalue())["tests"]]


seen = {}
First, Second = classes()
seen["two classes"] = run(First("test_answer"), Second("test_answer"))
First, Second = classes()
seen["the second alone"] = run(Second("test_answer"))
for name in ("test_answer", "test_zero_first"):
    First, _ = classes()
    First.answer = staticmethod(lambda: 10)
    one = run(First(name))
    First.answer = staticmethod(lambda: 1 / 0)
    seen[f"two submissions, {name}"] = one + run(First(name))
print(f"gradescope-utils {importlib.metadata.version('gradescope-utils')}")
for what, scores in seen.items():
    print(f"  {what}: {scores}")
expected = {
    "two classes": [(7, "failed"), (7, "failed")],
    "the second alone": [(0, "failed")],
    "two submissions, test_answer": [(10, "passed"), (10, "failed")],
    "two submissions, test_zero_first": [(10, "passed"), (0, "failed")],
}
sys.exit(0 if seen == expected else "the behaviour has changed")
PY
