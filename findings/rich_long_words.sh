#!/usr/bin/env bash
# rich: a text is wrapped that holds a path which is longer than a line.
#
# Guess before the run: with overflow="ignore" the text is wrapped at its blanks, and the path stays whole and goes beyond
# the width; "fold" parts it, "crop" and "ellipsis" shorten it.
# Seen with rich 15.0.0 and 13.9.4, Text.wrap at 20 columns:
#   fold, crop, ellipsis: as guessed
#   ignore: nothing is wrapped; the whole text is one line, as with no_wrap=True
# So no setting wraps words and leaves a long one whole, as textwrap does with break_long_words=False. A printed path or
# command cannot be copied, or its line is not wrapped at all. What helps: to wrap such texts by something else, and have
# rich measure them (rich.cells).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/look.py" <<'PY'
import importlib.metadata
import io
import sys

from rich.console import Console
from rich.text import Text

TEXT = "Look into the file exercises/01_basics/row_sums/row_sums.py once more"
console = Console(file=io.StringIO(), width=20)
seen = {}
for overflow in ("fold", "crop", "ellipsis", "ignore"):
    lines = [line.plain.rstrip() for line in Text(TEXT).wrap(console, 20, overflow=overflow)]
    seen[overflow] = len(lines), any("exercises/01_basics/row_sums/row_sums.py" in line for line in lines)
print(f"rich {importlib.metadata.version('rich')}, lines, and whether the path is whole: {seen}")
expected = {"fold": (4, False), "crop": (3, False), "ellipsis": (3, False), "ignore": (1, True)}
sys.exit(0 if seen == expected else "the behaviour has changed")
PY
for version in 13.9.4 15.0.0; do
    python3 -m venv --clear "$folder/venv"
    # shellcheck disable=SC2086
    "$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} "rich==$version"
    "$folder/venv/bin/python" "$folder/look.py"
done
