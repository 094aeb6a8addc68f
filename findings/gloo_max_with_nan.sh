#!/usr/bin/env bash
# torch.distributed, backend gloo: all_reduce with MAX where one rank has a NaN.
#
# Guess before the run: NaN on every rank, as torch.max and torch.maximum propagate it.
# Seen with torch 2.13.0 (CPU), Python 3.11, three processes on one machine:
#   ranks have 1, NaN, 2: every rank gets 1, so that the largest number is lost, and so is the NaN
#   ranks have NaN, 1, 2: every rank gets NaN
#   ranks have 1, 2, NaN: every rank gets 2
# Nothing is raised and nothing is warned about. The result depends on the rank that has the NaN. Who takes a maximum over
# ranks (of a loss, of gradients' norms) can get a number smaller than that of some rank. What helps: reduce
# `isnan().any()` beside it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
cat > "$folder/ranks.py" <<'PY'
import math
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank_of(rank, folder, number, values, results):
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet{number}", rank=rank, world_size=len(values))
    tensor = torch.tensor([values[rank]])
    dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
    results.put((rank, tensor.item()))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    nan = math.nan
    seen = {}
    for number, values in enumerate(((1.0, nan, 2.0), (nan, 1.0, 2.0), (1.0, 2.0, nan))):
        results = mp.get_context("spawn").SimpleQueue()
        mp.spawn(rank_of, args=(sys.argv[1], number, values, results), nprocs=len(values))
        seen[str(values)] = [str(value) for _, value in sorted(results.get() for _ in values)]
        print(f"torch {torch.__version__}: MAX over {values} is {seen[str(values)]} on the three ranks")
    expected = {"(1.0, nan, 2.0)": ["1.0"] * 3, "(nan, 1.0, 2.0)": ["nan"] * 3, "(1.0, 2.0, nan)": ["2.0"] * 3}
    sys.exit(0 if seen == expected else "the behaviour has changed")
PY
"$folder/venv/bin/python" "$folder/ranks.py" "$folder"
