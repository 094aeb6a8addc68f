#!/bin/sh
# autograder.py runs this in the student's checkout. Classroom 50 publishes this folder: `course` beside this file is
# the students' copy, and never has hidden checks or solutions. So the score is advice.
set -eu
home=$RUNNER_TEMP/grade
python3 -I -m venv --clear "$home"
"$home/bin/python" -I -m pip install --quiet "uv==@UV@"
"$home/bin/uv" pip install --quiet --directory "$CLASSROOM50_BUNDLE_DIR/@INSTALL@" --python "$home/bin/python" \
    --torch-backend cpu -r requirements.txt -c constraints.txt
timeout --kill-after 5 10m "$home/bin/grade" ci --course "$CLASSROOM50_BUNDLE_DIR/course" --confinement none \
    --format classroom50=result.json --fail-below never@WORDS@
