#!/usr/bin/env bash
# rich: the rate of a progress bar whose steps take longer than half a minute each.
#
# Guess before the run: the rate is that of the last steps, or of the whole run where there are too few of those.
# Seen with rich 15.0.0 and 13.9.4:
#   a step each 29 s: a speed of 1/29, and the time that is left
#   a step each 31 s: `speed` and `time_remaining` are None, for the whole run; the column shows -:--:--
# The cause is Progress(speed_estimate_period=30): older steps are forgotten at each update, so that a single one is left,
# and one step has no rate. What helps: a period that is longer than several of the longest steps.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/look.py" <<'PY'
import importlib.metadata
import sys

from rich.progress import Progress


def speed(seconds, **options):
    """Return the speed after ten steps of so many seconds; the clock is ours."""
    now = [0.0]
    progress = Progress(auto_refresh=False, get_time=lambda: now[0], **options)
    task = progress.add_task("", total=100)
    for _ in range(10):
        now[0] += seconds
        progress.update(task, advance=1)
    return progress.tasks[0].speed


seen = {"29 s": speed(29), "31 s": speed(31), "31 s, period 3600": speed(31, speed_estimate_period=3600)}
print(f"rich {importlib.metadata.version('rich')}: {seen}")
sys.exit(0 if seen == {"29 s": 1 / 29, "31 s": None, "31 s, period 3600": 1 / 31} else "the behaviour has changed")
PY
for version in 13.9.4 15.0.0; do
    python3 -m venv --clear "$folder/venv"
    # shellcheck disable=SC2086
    "$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} "rich==$version"
    "$folder/venv/bin/python" "$folder/look.py"
done
