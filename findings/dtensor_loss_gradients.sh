#!/usr/bin/env bash
# PyTorch: F.mse_loss and its gradient for DTensors whose rows are sharded over two ranks.
#
# Guess before the run: the loss and the gradient are those of the whole tensors, as those of ((x - y) ** 2).mean() are.
# Seen with torch 2.13.0 (CPU, gloo) and the same with 2.14.1, where the last row of x is 3, all others and y are 0:
#   4 rows, 2 on each rank:  loss 2.25, as without ranks; gradient of the last row 3.0 in place of 1.5
#   5 rows, 3 and 2:         loss 2.25 in place of 1.8; gradient 3.0 in place of 1.2
#   huber_loss, smooth_l1_loss and binary_cross_entropy are wrong in the same way
#   binary_cross_entropy_with_logits: gradients are right, the loss of 5 rows is not
#   l1_loss, and a loss written with mean(): right
# These losses are means of the ranks' means. The backward of the first four divides by the number of elements on the
# rank, so gradients are larger by the number of ranks while the loss is right: as if the learning rate were. What helps:
# reduction="none" and mean(), or reduction="sum" and a division.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
cat > "$folder/losses.py" <<'PY'
import datetime
import json
import logging
import sys
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

RANKS = 2
LOSSES = {
    "mse_loss": F.mse_loss,
    "huber_loss": F.huber_loss,
    "smooth_l1_loss": F.smooth_l1_loss,
    "binary_cross_entropy": lambda x, y: F.binary_cross_entropy(x / 4 + 0.1, y),
    "binary_cross_entropy_with_logits": F.binary_cross_entropy_with_logits,
    "l1_loss": F.l1_loss,
    "mean of squares": lambda x, y: ((x - y) ** 2).mean(),
    "mse_loss, none, mean": lambda x, y: F.mse_loss(x, y, reduction="none").mean(),
}


def work(rank, folder):
    logging.disable(logging.ERROR)
    limit = datetime.timedelta(seconds=120)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=RANKS, timeout=limit)
    mesh = init_device_mesh("cpu", (RANKS,))
    seen = {}
    for rows in (4, 5):
        x, y = torch.zeros(rows, 1), torch.zeros(rows, 1)
        x[-1] = 3
        for name, loss_of in LOSSES.items():
            plain = x.clone().requires_grad_()
            wanted = loss_of(plain, y)
            wanted.backward()
            sharded = distribute_tensor(x, mesh, [Shard(0)]).detach().requires_grad_()
            loss = loss_of(sharded, distribute_tensor(y, mesh, [Shard(0)]))
            loss.backward()
            numbers = wanted, loss.full_tensor(), plain.grad[-1], sharded.grad.full_tensor()[-1]
            seen[f"{rows} rows, {name}"] = [round(number.item(), 4) for number in numbers]
    if rank == 0:
        Path(folder, "seen.json").write_text(json.dumps(seen))
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(work, (sys.argv[1],), nprocs=RANKS)
    seen = json.loads(Path(sys.argv[1], "seen.json").read_text())
    print(f"torch {torch.__version__}, {RANKS} ranks")
    wrong = {}
    for name, (plain, sharded, slope, sharded_slope) in seen.items():
        print(f"  {name}: loss {plain}, sharded {sharded}; gradient {slope}, sharded {sharded_slope}")
        wrong[name] = (plain != sharded, slope != sharded_slope)
    both = {"mse_loss", "huber_loss", "smooth_l1_loss", "binary_cross_entropy"}
    expected = {}
    for name in LOSSES:
        expected[f"4 rows, {name}"] = (False, name in both)
        expected[f"5 rows, {name}"] = (name in both or name.endswith("logits"), name in both)
    same = wrong == expected and seen["4 rows, mse_loss"] == [2.25, 2.25, 1.5, 3.0]
    sys.exit(0 if same else "the behaviour has changed")
PY
"$folder/venv/bin/python" -W ignore "$folder/losses.py" "$folder"
