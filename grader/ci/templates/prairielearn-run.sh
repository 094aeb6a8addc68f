#!/bin/sh
# PrairieLearn runs this for each submission, without a network.
set -u
root=${GRADE_ROOT:-/grade}
home=${GRADER_HOME:-/grader}
results=$root/results/results.json
mkdir -p "$root/results"
"$home/venv/bin/grade" ci --submission "$root/student" --course "$home/course" --author submission \
    --format "prairielearn=$results" --fail-below never @WORDS@
status=$?
if [ ! -s "$results" ]; then
    printf '{"gradable": false, "message": "Grading could not start (status %d). This is not your fault."}\n' \
        "$status" >"$results"
fi
