#!/bin/sh
# PrairieLearn runs this for each submission, without a network. It loses everything when its own time limit, the
# `timeout` in info.json, ends a run: GRADE_SECONDS, just below that, ends with what was decided.
set -u
: "${GRADE_SECONDS:=280}"
root=${GRADE_ROOT:-/grade}
home=${GRADER_HOME:-/grader}
results=$root/results/results.json
mkdir -p "$root/results"
rm -f "$results"
# Whose inputs these are: PrairieLearn names no student, but each has a variant with a seed of its own.
author=$("$home/venv/bin/python" -I - "$root/data/data.json" <<'PYTHON'
import json, sys
try:
    print("variant-%d" % int(json.load(open(sys.argv[1], encoding="utf-8"))["variant_seed"]))
except (OSError, ValueError, KeyError, TypeError):
    print("submission")
PYTHON
)

timeout --kill-after 5 "$GRADE_SECONDS" "$home/venv/bin/grade" ci \
    --submission "$root/student" --course "$home/course" --author "$author" \
    --secret-file "$home/secret.txt" --format "prairielearn=$results" --fail-below never@WORDS@
status=$?
if [ ! -s "$results" ]; then
    why="Nothing was graded: the course or the machine has a fault (status $status). This is not your fault,"
    printf '{"gradable": false, "message": "%s and costs no attempt: tell your instructor."}\n' "$why" >"$results"
fi
