#!/usr/bin/env bash
# sphinx-click with MyST: its directive in a page of Markdown.
#
# Guess before the run: the page has the command's options, as in a page of reStructuredText, or the build fails.
# Seen with sphinx-click 6.2.0, myst-parser 5.2.0 and Sphinx 9.0.4, built with --fail-on-warning:
#   the build succeeds without a word
#   a ```{click} block: the page shows the text ".. option::" and "--" as a dash, and has no entry for the option
#   the same directive in an ```{eval-rst} block: the option has its entry
# A directive that writes reStructuredText for its parser gets MyST's parser there, for which such lines are prose. What
# helps: the block eval-rst, and a test that looks for an entry in the page.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} sphinx==9.0.4 myst-parser==5.2.0 sphinx-click==6.2.0 click==8.5.1
mkdir "$folder/docs"
cd "$folder/docs"
cat > tool.py <<'PY'
import click


@click.command()
@click.option("--loud", is_flag=True, help="Shout.")
def main(loud):
    """Say something."""
PY
cat > conf.py <<'PY'
import sys

sys.path.insert(0, ".")
extensions = ["myst_parser", "sphinx_click"]
PY
printf '# Tool\n\n```{click} tool:main\n:prog: tool\n```\n' > plain.md
printf '# Tool, too\n\n```{eval-rst}\n.. click:: tool:main\n   :prog: tool\n```\n' > wrapped.md
printf '# Index\n\n```{toctree}\nplain\nwrapped\n```\n' > index.md
"$folder/venv/bin/python" -m sphinx --quiet --fail-on-warning -b html . "$folder/out"
seen=""
for page in plain wrapped; do
    raw=$(grep -c '\.\. option::' "$folder/out/$page.html" || true)
    entries=$(grep -c 'class="std option"' "$folder/out/$page.html" || true)
    seen+="$page: lines with '.. option::' $raw, entries $entries; "
done
echo "sphinx-click 6.2.0, myst-parser 5.2.0, Sphinx 9.0.4: $seen"
[[ $seen == "plain: lines with '.. option::' 1, entries 0; wrapped: lines with '.. option::' 0, entries 1; " ]] ||
    { echo "the behaviour has changed" >&2; exit 1; }
