#!/usr/bin/env bash
# packaging: whether a version before a release is in a set of versions that does not name one.
#
# Guess before the run: `in` says no, as pip does not install such a version, and as `filter` leaves it out; in every
# version of packaging.
# Seen with packaging 25.0 and 26.3, for SpecifierSet(">=0.1"):
#   25.0: "0.2rc1" in it: False; filter(["0.2rc1"]): nothing
#   26.3: "0.2rc1" in it: True;  filter(["0.2rc1"]): 0.2rc1;  filter(["0.2rc1", "0.3"]): 0.3 alone
# So the same test of an installed version turns from no to yes with an update, and with 26 `in` and `filter` differ as
# soon as there is a release, too. What helps: say it, by contains(version, prereleases=True) or False.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/look.py" <<'PY'
import importlib.metadata
import sys

from packaging.specifiers import SpecifierSet

versions = SpecifierSet(">=0.1")
seen = {
    "0.2rc1 is in it": "0.2rc1" in versions,
    "filter of 0.2rc1": list(versions.filter(["0.2rc1"])),
    "filter of 0.2rc1 and 0.3": list(versions.filter(["0.2rc1", "0.3"])),
}
print(f"packaging {importlib.metadata.version('packaging')}: {seen}")
old = {"0.2rc1 is in it": False, "filter of 0.2rc1": [], "filter of 0.2rc1 and 0.3": ["0.3"]}
new = {"0.2rc1 is in it": True, "filter of 0.2rc1": ["0.2rc1"], "filter of 0.2rc1 and 0.3": ["0.3"]}
sys.exit(0 if seen == {"old": old, "new": new}[sys.argv[1]] else "the behaviour has changed")
PY
for pair in old:25.0 new:26.3; do
    python3 -m venv --clear "$folder/venv"
    # shellcheck disable=SC2086
    "$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} "packaging==${pair#*:}"
    "$folder/venv/bin/python" "$folder/look.py" "${pair%:*}"
done
