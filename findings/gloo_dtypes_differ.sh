#!/usr/bin/env bash
# PyTorch with gloo: an all_reduce for which two ranks pass tensors of two dtypes.
#
# Guess before the run: a RuntimeError on both ranks, which names the dtypes.
# Seen with torch 2.10.0, 2.13.0 and 2.14.1, where each rank passes [1, 1]:
#   float32 and int32    -> no error: [1.0, 1.0] on the one, and [1065353216, 1065353216], the bits of 1.0, on the other
# Some pairs of floating dtypes end the process of one rank with a signal, which no `except` sees; they are not run here.
# Gloo adds up bytes as the dtype of each process says, and compares neither dtypes nor shapes. One rank without a GPU, or
# with another default dtype, is enough.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
cat >"$folder/ranks.py" <<'PY'
import datetime
import multiprocessing
import sys
import tempfile

import torch
import torch.distributed as dist


def work(rank, place, dtype, replies):
    store = dist.FileStore(place, 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=datetime.timedelta(seconds=20))
    t = torch.ones(2, dtype=dtype)
    try:
        dist.all_reduce(t)
        replies.put((rank, t.tolist()))
    except RuntimeError:
        replies.put((rank, "RuntimeError"))


def outcomes(dtypes):
    context = multiprocessing.get_context("spawn")
    replies = context.SimpleQueue()
    with tempfile.TemporaryDirectory() as place:
        ranks = [
            context.Process(target=work, args=(rank, f"{place}/store", dtype, replies))
            for rank, dtype in enumerate(dtypes)
        ]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join()
    found = [None for _ in ranks]
    while not replies.empty():
        rank, reply = replies.get()
        found[rank] = reply
    return found


if __name__ == "__main__":
    seen = {
        "float32, float32": outcomes([torch.float32, torch.float32]),
        "float32, int32": outcomes([torch.float32, torch.int32]),
    }
    print(f"torch {torch.__version__}")
    for dtypes, found in seen.items():
        print(f"{dtypes}: {found}")
    expected = [[[2.0, 2.0]] * 2, [[1.0, 1.0], [1065353216, 1065353216]]]
    sys.exit(0 if list(seen.values()) == expected else "the behaviour has changed")
PY
"$folder/venv/bin/python" "$folder/ranks.py"
