#!/bin/sh
# PrairieLearn runs this for each submission, without a network.
set -u
root=${GRADE_ROOT:-/grade}
home=${GRADER_HOME:-/grader}
results=$root/results/results.json
mkdir -p "$root/results"
# Whose inputs these are: PrairieLearn names no student, but each has a variant with a seed of its own.
author=$("$home/venv/bin/python" -I - "$root/data/data.json" <<'PYTHON'
import json, sys
try:
    print("variant-%d" % int(json.load(open(sys.argv[1], encoding="utf-8"))["variant_seed"]))
except (OSError, ValueError, KeyError, TypeError):
    print("submission")
PYTHON
)

"$home/venv/bin/grade" ci --submission "$root/student" --course "$home/course" --author "$author" \
    --secret-file "$home/secret.txt" \
    --format "prairielearn=$results" --fail-below never @WORDS@
status=$?
if [ ! -s "$results" ]; then
    printf '{"gradable": false, "message": "Grading could not start (status %d). This is not your fault."}\n' \
        "$status" >"$results"
fi
