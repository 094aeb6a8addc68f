#!/usr/bin/env bash
# Dask's LocalCluster: a worker process is lost, and its successor takes longer than 15 s to start.
#
# Guess before the run: the nanny starts a successor, the cluster has its worker again after some time, and what was
# submitted meanwhile runs there.
# Seen with distributed 2026.8.0, Python 3.11, one worker process that imports for 20 s:
#   the successor is started, and closed as soon as it has registered; the cluster still plans for one worker
#   (`worker_spec`), has none (`workers` is empty), starts no further one, and logs this at level INFO only
# The cause is the option distributed.deploy.lost-worker-timeout (15 s): a worker that has not registered again by then is
# closed for good, although its nanny is just starting it, and `_correct_state` is not run after that. A process that
# imports a large package on a busy machine takes as long. What helps: a larger value of that option in the process that
# makes the cluster.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} distributed==2026.8.0 dask==2026.8.0
cat > "$folder/slow.py" <<'PY'
import os
import time

time.sleep(float(os.environ.get("IMPORTS_S", "0")))
PY
cat > "$folder/lost.py" <<'PY'
import os
import signal
import sys
import time

import dask
from distributed import Client, LocalCluster


def after_a_loss(timeout, preload):
    """Return how many workers are planned and how many are there, 60 s after the only one was lost."""
    options = {"distributed.worker.preload": [preload], "distributed.deploy.lost-worker-timeout": timeout}
    os.environ["IMPORTS_S"] = "0"
    with dask.config.set(options), LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster, Client(cluster) as client:
        pid = client.submit(os.getpid).result()
        os.environ["IMPORTS_S"] = "20"
        os.kill(pid, signal.SIGKILL)
        time.sleep(60)
        return len(cluster.worker_spec), len(client.nthreads())


if __name__ == "__main__":
    seen = {timeout: after_a_loss(timeout, sys.argv[1]) for timeout in ("15s", "300s")}
    for timeout, (planned, there) in seen.items():
        print(f"lost-worker-timeout {timeout}: {planned} worker planned, {there} there a minute after the loss")
    sys.exit(0 if seen == {"15s": (1, 0), "300s": (1, 1)} else "the behaviour has changed")
PY
"$folder/venv/bin/python" "$folder/lost.py" "$folder/slow.py"
