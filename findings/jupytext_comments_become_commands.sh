#!/usr/bin/env bash
# jupytext: comments of an ordinary script that is opened as a notebook.
#
# Guess before the run: a comment stays a comment, whatever it says, except `# %magic` and `# !command`, which jupytext
# itself writes so.
# Seen with jupytext 1.19.6 and ipython 9.9.0, a script that Python runs, of one comment and `answer = 1` under it:
#   # copy of the input          -> the cell begins with `copy of the input`: a SyntaxError, no `answer`
#   # cat pictures come first    -> the same; also cd, cp, ddir, echo, ldir, ls, mkdir, mv, ren, rm and rmdir
#   # ls                         -> the cell begins with `ls`: a NameError, no `answer`
#   # sorted?                    -> `sorted?` in a script with `# %%`: help is shown, and `answer` is 1
#   # Copy of it, # copy: of it, # more of it, # is it sorted?, or an indented `# copy of it`    remain comments
#   all of them with `--opt comment_magics=false`                                                remain comments
# A line that starts with one of IPython's aliases, of POSIX or of Windows, counts as a magic that jupytext has put into
# a comment. The comment takes its whole cell along, while the script works for the student who wrote it. Who turns
# submitted scripts into notebooks, to grade or to show them, should set comment_magics to false.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} jupytext==1.19.6 ipython==9.9.0
export IPYTHONDIR="$folder/ipython"
cd "$folder"
cat > look.py <<'PY'
import contextlib
import importlib.metadata
import io
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
from IPython.core.interactiveshell import InteractiveShell


def first_line_and_answer(script: str, *options: str) -> tuple:
    """Return the first line of the script's notebook, and what the notebook makes of `answer`."""
    Path("script.py").write_text(script)
    subprocess.run([sys.executable, "script.py"], check=True)
    command = [sys.executable, "-m", "jupytext", "--quiet", "--to", "ipynb", *options, "script.py"]
    subprocess.run(command, check=True)
    [cell] = nbformat.read("script.ipynb", as_version=4).cells
    shell = InteractiveShell()
    with contextlib.redirect_stdout(io.StringIO()):
        result = shell.run_cell(cell.source)
    error = result.error_before_exec or result.error_in_exec
    return cell.source.splitlines()[0], type(error).__name__ if error else shell.user_ns["answer"]


comments = ["copy of the input", "cat pictures come first", "ls", "sorted?", "Copy of it", "copy: of it"]
comments += ["more of it", "is it sorted?"]
versions = [f"{name} {importlib.metadata.version(name)}" for name in ("jupytext", "ipython")]
print(*versions, sep=", ")
seen = {}
for comment in comments:
    script = f"# {comment}\nanswer = 1\n"
    with_cells = f"# %%\n{script}"
    off = ("--opt", "comment_magics=false")
    seen[comment] = [first_line_and_answer(script), first_line_and_answer(with_cells)]
    seen[comment] += [first_line_and_answer(with_cells, *off)]
    print(f"  # {comment}: {seen[comment]}")
inner = "def double(x):\n    # copy of it\n    return 2 * x\nanswer = double(1)\n"
seen["indented"] = first_line_and_answer(inner)[1]
print(f"  indented: {seen['indented']}")
words = "cat cd copy cp ddir echo ldir ls mkdir mv ren rm rmdir".split()
scripts = {word: f"# {word} of it\nanswer = 1\n" for word in [*words, "more"]}
read = {word: jupytext.reads(script, "py:percent").cells[0].source for word, script in scripts.items()}
uncommented = [word for word in read if read[word] == f"{word} of it\nanswer = 1"]
print(f"  `# ... of it`, uncommented after {' '.join(uncommented)}")
expected = {comment: [(f"# {comment}", 1)] * 3 for comment in comments} | {"indented": 2}
for comment in comments[:3]:
    expected[comment][:2] = [(comment, "NameError" if comment == "ls" else "SyntaxError")] * 2
expected["sorted?"][1] = ("sorted?", 1)
sys.exit(0 if seen == expected and uncommented == words else "the behaviour has changed")
PY
"$folder/venv/bin/python" look.py
