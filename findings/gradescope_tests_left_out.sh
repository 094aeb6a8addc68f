#!/usr/bin/env bash
# gradescope-utils: which tests results.json has.
#
# Guess before the run: a skipped test has no entry, each of the others has one, with its max_score; one with a failed
# subtest has 0 points and status "failed".
# Seen with gradescope-utils 0.5.0, and unittest of Python 3.11, tests of 5 points each:
#   passes, or `self.fail()`                            -> an entry, 5 or 0 of 5 points
#   one of its subtests fails                           -> no entry
#   skipped, within the test or by the decorator        -> no entry
#   @expectedFailure, which fails or which passes       -> no entry
#   @leaderboard beside @weight(5)                      -> no entry among the tests, and its points are not in the score
# Such a test takes its max_score along: a submission that fails only in a subtest shows nothing but passed tests, its
# score equals the sum of every max_score, and no output says what was wrong. Entries are made in addSuccess, addFailure
# and addError alone; unittest tells of the others by addSubTest, addSkip, addExpectedFailure and addUnexpectedSuccess.
# (Issues 5 and 22 of gradescope-utils ask for an entry per subtest.) What helps: no subTest in tests that are worth
# points, and a look at the number of entries.
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

from gradescope_utils.autograder_utils.decorators import leaderboard, weight
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner


class Tests(unittest.TestCase):
    @weight(5)
    def test_passes(self):
        pass

    @weight(5)
    def test_fails(self):
        self.fail("wrong")

    @weight(5)
    def test_subtest_passes(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertLess(number, 3)

    @weight(5)
    def test_subtest_fails(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertLess(number, 2)

    @weight(5)
    def test_skips(self):
        self.skipTest("no file")

    @weight(5)
    @unittest.skip("later")
    def test_skipped(self):
        pass

    @weight(5)
    @unittest.expectedFailure
    def test_expected_failure(self):
        self.fail("wrong")

    @weight(5)
    @unittest.expectedFailure
    def test_unexpected_success(self):
        pass

    @weight(5)
    @leaderboard("speed")
    def test_leaderboard(self, set_leaderboard_value=None):
        set_leaderboard_value(1)


def run(*names: str) -> dict:
    """Return what results.json says after these tests."""
    text = io.StringIO()
    JSONTestRunner(stream=text).run(unittest.TestSuite(Tests(name) for name in names))
    return json.loads(text.getvalue())


print(f"gradescope-utils {importlib.metadata.version('gradescope-utils')}, Python {sys.version.split()[0]}")
seen = {}
for name in unittest.defaultTestLoader.getTestCaseNames(Tests):
    tests = run(name)["tests"]
    seen[name] = [(test["status"], test["score"], test["max_score"]) for test in tests]
    print(f"  {name}: {seen[name]}")
both = run("test_passes", "test_subtest_fails")
total = (both["score"], sum(test["max_score"] for test in both["tests"]), [test["status"] for test in both["tests"]])
print(f"  one passes and a subtest of one fails: score, sum of max_score, statuses: {total}")
passed = [("passed", 5, 5)]
expected = {name: [] for name in seen} | {
    "test_passes": passed,
    "test_fails": [("failed", 0, 5)],
    "test_subtest_passes": passed,
}
sys.exit(0 if seen == expected and total == (5, 5, ["passed"]) else "the behaviour has changed")
PY
