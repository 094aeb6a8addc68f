#!/usr/bin/env bash
# copydetect: similarity of a program to itself with other names.
#
# Guess before the run: names of variables do not matter, whichever they are: its tokens stand for "a variable".
# Seen with copydetect 0.5.0:
#   variables renamed to other words:            similarity 1.0
#   variables renamed to names of builtins:      similarity 0.0 (`sum`, `list`, `max` are kept as they are)
# A copy whose variables are called `list`, `sum` and `id` is therefore not found. What helps: rename every bound name
# before the comparison.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} copydetect==0.5.0
cat > "$folder/source.py" <<'PY'
def total(values):
    result = 0
    for index in range(len(values)):
        number = values[index]
        if number > 0:
            result = result + number
        else:
            result = result - number
    average = result / len(values)
    return average, result


def largest(values):
    best = values[0]
    place = 0
    for index in range(len(values)):
        if values[index] > best:
            best = values[index]
            place = index
    return best, place
PY
sed -e 's/values/rows/g; s/result/acc/g; s/number/n/g; s/average/mean/g; s/best/top/g; s/place/pos/g; s/index/i/g' \
    "$folder/source.py" > "$folder/words.py"
sed -e 's/values/list/g; s/result/sum/g; s/number/int/g; s/average/float/g; s/best/max/g; s/place/id/g; s/index/iter/g' \
    "$folder/source.py" > "$folder/builtins.py"
"$folder/venv/bin/python" - "$folder" <<'PY'
import importlib.metadata
import sys

from copydetect import CodeFingerprint, compare_files

source, words, builtins = (CodeFingerprint(f"{sys.argv[1]}/{name}.py", 15, 8) for name in ("source", "words", "builtins"))
seen = {name: float(compare_files(source, other)[1][0]) for name, other in (("words", words), ("builtins", builtins))}
print(f"copydetect {importlib.metadata.version('copydetect')}: similarity to a copy renamed to {seen}")
sys.exit(0 if seen == {"words": 1.0, "builtins": 0.0} else "the behaviour has changed")
PY
