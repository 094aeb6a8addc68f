#!/usr/bin/env bash
# PyTorch: `all_gather_single` into a tensor with a dim of its own for the ranks, on the backend gloo.
#
# Guess before the run: it works, as the documentation gives two forms for the output: a concatenation and a stack.
# Seen with torch 2.13.0 (CPU), and the same with 2.14.1, for two ranks with three numbers each:
#   an output of shape (6,)    is filled: the numbers of both ranks, one after the other
#   an output of shape (2, 3)  raises RuntimeError: ProcessGroupGloo::allgather: invalid tensor size at index 0
#                              (expected (3), got (1, 3))
# Gloo cuts the output along its first dim and wants each piece to have the shape of the input, but a piece of the second
# form has one dim more. Code that is developed on CPUs uses the first form, and `view` afterwards.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
cat > "$folder/gather.py" <<'PY'
import json
import sys
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def work(rank: int, folder: str) -> None:
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    seen = {}
    for shape in ((6,), (2, 3)):
        gathered = torch.zeros(shape)
        try:
            dist.all_gather_single(gathered, torch.full((3,), float(rank)))
            seen[str(shape)] = gathered.tolist()
        except RuntimeError as error:
            seen[str(shape)] = str(error).partition(" (")[0]
    Path(folder, f"rank{rank}.json").write_text(json.dumps(seen))
    dist.destroy_process_group()


if __name__ == "__main__":
    folder = sys.argv[1]
    mp.spawn(work, (folder,), nprocs=2)
    seen = json.loads(Path(folder, "rank0.json").read_text())
    print(f"torch {torch.__version__}: {seen}")
    expected = {
        "(6,)": [0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
        "(2, 3)": "ProcessGroupGloo::allgather: invalid tensor size at index 0",
    }
    sys.exit(0 if seen == expected else "the behaviour has changed")
PY
"$folder/venv/bin/python" "$folder/gather.py" "$folder"
