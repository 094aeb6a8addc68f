#!/usr/bin/env bash
# canvasapi: a field of Canvas that is to be emptied.
#
# Guess before the run: None and [] arrive as an empty value, as `null` and `[]` do in JSON, or raise.
# Seen with canvasapi 3.6.0 and requests-mock 1.12.1, what the request has after the call:
#   submission.edit(submission={"posted_grade": 0})                 -> posted_grade is 0
#   submission.edit(submission={"posted_grade": None})              -> nothing at all, so the old grade stays
#   submission.edit(submission={"posted_grade": ""})                -> an empty posted_grade
#   assignment.edit(assignment={"points_possible": 5, "due_at": None})       -> points_possible alone; the date stays
#   assignment.edit(assignment={"points_possible": 5, "submission_types": []}) -> points_possible alone
#   submission.edit(submission={"posted_grade": False})             -> "false"
# Nothing is raised. What an object of canvasapi has as None, for a grade or a date that is not set, cannot be sent back
# as it is: canvasapi sends fields of a form, as requests builds it, in which None and an empty list are left out. What
# helps: "" in place of None.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} canvasapi==3.6.0 requests-mock==1.12.1
"$folder/venv/bin/python" - <<'PY'
import importlib.metadata
import sys
from urllib.parse import parse_qsl

import requests_mock
from canvasapi import Canvas

URL = "https://canvas.invalid/api/v1/courses/1"
with requests_mock.Mocker() as server:
    server.get(URL, json={"id": 1})
    server.get(f"{URL}/assignments/2", json={"id": 2, "course_id": 1, "due_at": None})
    server.put(f"{URL}/assignments/2", json={"id": 2, "course_id": 1, "name": "2"})
    answer = {"id": 3, "user_id": 3, "assignment_id": 2, "course_id": 1}
    for add in (server.get, server.put):
        add(f"{URL}/assignments/2/submissions/3", json=answer)
    assignment = Canvas("https://canvas.invalid", "token").get_course(1).get_assignment(2)
    submission = assignment.get_submission(3)
    seen = {}
    for grade in (0, None, "", False):
        submission.edit(submission={"posted_grade": grade})
        seen[f"posted_grade {grade!r}"] = parse_qsl(server.last_request.text or "", keep_blank_values=True)
    for key, value in [("due_at", assignment.due_at), ("due_at", "")] + [("submission_types", x) for x in ([], [""])]:
        assignment.edit(assignment={"points_possible": 5, key: value})
        seen[f"{key} {value!r}"] = parse_qsl(server.last_request.text, keep_blank_values=True)
print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("canvasapi", "requests-mock")))
for what, fields in seen.items():
    print(f"  {what}: {fields}")
grade, five = "submission[posted_grade]", ("assignment[points_possible]", "5")
expected = [[(grade, "0")], [], [(grade, "")], [(grade, "false")], [five], [five, ("assignment[due_at]", "")], [five]]
expected += [[five, ("assignment[submission_types][]", "")]]
sys.exit(0 if [*seen.values()] == expected else "the behaviour has changed")
PY
