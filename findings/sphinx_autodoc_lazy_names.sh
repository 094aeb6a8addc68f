#!/usr/bin/env bash
# Sphinx's autodoc: names in `__all__` that a module's `__getattr__` (PEP 562) gives.
#
# Guess before the run: automodule with :members: documents all names of `__all__`, or warns about those that it leaves
# out; `from module import *` gives all of them.
# Seen with Sphinx 9.0.4, built with --fail-on-warning:
#   `from lazy import *` gives both functions
#   automodule with :members: and with :imported-members: has the one that is defined in the module's file, and is silent
#   about the other
#   autofunction with the name of the other one documents it
# A package that imports its parts late, as large ones do, loses most of its reference that way. What helps: list the
# names, and a test that each name of `__all__` is in the page.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} sphinx==9.0.4
mkdir "$folder/docs"
cd "$folder/docs"
printf 'def late():\n    """Come late."""\n' > parts.py
cat > lazy.py <<'PY'
__all__ = ["early", "late"]


def early():
    """Be here."""


def __getattr__(name):
    if name == "late":
        import parts

        return parts.late
    raise AttributeError(name)
PY
printf 'import sys\n\nsys.path.insert(0, ".")\nextensions = ["sphinx.ext.autodoc"]\n' > conf.py
printf 'Index\n=====\n\n.. toctree::\n\n   one\n' > index.rst
printf 'All\n===\n\n.. automodule:: lazy\n   :members:\n   :imported-members:\n' > all.rst
printf 'One\n===\n\n.. autofunction:: lazy.late\n' > one.rst
sed -i 's/   one/   all\n   one/' index.rst
"$folder/venv/bin/python" -m sphinx --quiet --fail-on-warning -b text . "$folder/out"
star=$("$folder/venv/bin/python" -c 'from lazy import *; print(early.__name__, late.__name__)')
count() { grep -c "^lazy.$1()" "$folder/out/$2.txt" || true; }
seen="star import: $star; automodule: early $(count early all), late $(count late all); autofunction: $(count late one)"
echo "Sphinx 9.0.4: $seen"
[[ $seen == "star import: early late; automodule: early 1, late 0; autofunction: 1" ]] ||
    { echo "the behaviour has changed" >&2; exit 1; }
