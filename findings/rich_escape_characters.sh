#!/usr/bin/env bash
# rich: what a Text does with control characters of somebody else's text.
#
# Guess before the run: Text takes out all control characters, the escape character with them, as its own styles are no
# escape codes in the text; a console that is told to use no colours prints none.
# Seen with rich 15.0.0 and 13.9.4:
#   bell, backspace, vertical tab, form feed and carriage return are gone
#   the escape character and the one-character CSI (U+009B) stay, also in the output of Console(no_color=True)
# So a student's text that holds a colour's escape code colours the terminal, although markup is off and the text is a
# Text. What helps: spell such characters out before the text goes to rich.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/look.py" <<'PY'
import importlib.metadata
import io
import sys

from rich.console import Console
from rich.text import Text

console = Console(file=io.StringIO(), width=80, no_color=True, color_system=None, markup=False)
stays = {}
for name, char in {"bell": "\a", "backspace": "\b", "return": "\r", "escape": "\x1b", "CSI": "\x9b"}.items():
    with console.capture() as captured:
        console.print(Text(f"a{char}[1mb"))
    stays[name] = char in captured.get()
print(f"rich {importlib.metadata.version('rich')}, what stays: {stays}")
expected = {"bell": False, "backspace": False, "return": False, "escape": True, "CSI": True}
sys.exit(0 if stays == expected else "the behaviour has changed")
PY
for version in 13.9.4 15.0.0; do
    python3 -m venv --clear "$folder/venv"
    # shellcheck disable=SC2086
    "$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} "rich==$version"
    "$folder/venv/bin/python" "$folder/look.py"
done
