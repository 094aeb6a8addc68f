"""Two processes train one model: each has a part of the data, gradients are averaged, numbers are gathered."""

from __future__ import annotations

import os
import socket
from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch import nn
from torch.multiprocessing.spawn import spawn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

ON_GPU = torch.cuda.is_available()


def work(rank: int, world: int, port: int) -> None:
    """Do the work of one process."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("nccl" if ON_GPU else "gloo", rank=rank, world_size=world)
    device = torch.device("cuda", rank) if ON_GPU else torch.device("cpu")
    if ON_GPU:
        torch.cuda.set_device(rank)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rows = torch.randn(96, 12)
    data = TensorDataset(rows, rows[:, :3].argmax(1))
    sampler: DistributedSampler[tuple[torch.Tensor, ...]] = DistributedSampler(data, world, rank, seed=3)
    loader = DataLoader(data, 8, sampler=sampler, pin_memory=ON_GPU)
    net = nn.Sequential(nn.Linear(12, 24), nn.LayerNorm(24), nn.ReLU(), nn.Linear(24, 3))
    model = DistributedDataParallel(net.to(device), device_ids=[rank] if ON_GPU else None, gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        total = torch.zeros(2, device=device)
        for step, (x, y) in enumerate(loader):
            wait = step % 2 == 0
            with model.no_sync() if wait else nullcontext():
                loss = nn.functional.cross_entropy(model(x.to(device, non_blocking=True)), y.to(device))
                (loss / 2).backward()
            if not wait:
                optimizer.step()
                optimizer.zero_grad()
            total += torch.stack([loss.detach(), torch.ones((), device=device)])
        dist.all_reduce(total)
        gathered = [torch.zeros(3, device=device) for _ in range(world)]
        dist.all_gather(gathered, model.module[3].bias.detach())
        assert torch.equal(gathered[0], gathered[1])
        if rank == 0:
            print(f"epoch {epoch} loss {total[0].div(total[1]):.6f} loss {gathered[1].sum():.6f}", flush=True)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        chosen = free.getsockname()[1]
    spawn(work, args=(2, chosen), nprocs=2)
