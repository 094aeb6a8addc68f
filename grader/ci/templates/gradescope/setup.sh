#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image: an environment of our own, as the image's Python may be older.
set -euo pipefail
source=${AUTOGRADER_ROOT:-/autograder}/source
apt-get update -qq
apt-get install -y -qq python3-venv git
python3 -m venv "$source/uv"
"$source/uv/bin/pip" install --quiet "uv==@UV@"
"$source/uv/bin/uv" venv --quiet --python @PYTHON@ "$source/venv"
"$source/uv/bin/uv" pip install --quiet --compile-bytecode --directory "$source/@INSTALL@" --python "$source/venv/bin/python" \
    --torch-backend cpu -r requirements.txt -c constraints.txt
