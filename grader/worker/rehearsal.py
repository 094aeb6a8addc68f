"""What a worker does while it waits for a submission: requests of its own, so that the first of a check is none.

The worker server does the same before it forks any.

A forked process copies each page of its parent's when it first writes to it, and counting references is writing. The
pages that every request writes to are copied here, while nobody waits.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from grader.wire.bounds import Caps
from grader.wire.exchange import Exchange
from grader.wire.frames import Frame
from grader.wire.outgoing import Outgoing
from grader.wire.requests import Asked, Call
from grader.wire.tree import parse_tree, write_tree
from grader.worker import unset
from grader.worker.serve import Submission

_ROUNDS = 3
_OFTEN = 12
"""By then Python has made its code special to what it meets."""

_SEED = 1  # generators are seeded anew by the first request of every check


def warm_up() -> None:
    """Do in the worker server, once, what each worker would do first: rehearse, and run operators.

    The code that answers requests is made special to them, types know their attributes, and libraries have asked the
    processor what it can: the first convolution takes 17 ms, and the next ones one. The server must have one thread
    before and after. So nothing goes backward here: for that PyTorch starts threads where there is a GPU.
    """
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    for _ in range(_OFTEN):
        rehearse()
    with torch.no_grad():
        for run in _OPERATORS:
            with contextlib.suppress(Exception):  # this PyTorch has no such operator; who calls it will be told
                run(torch.ones(4, 4))
    unset.fill(False)  # on since the first request
    torch.set_rng_state(states[0])
    np.random.set_state(states[1])
    random.setstate(states[2])


_OPERATORS: tuple[Callable[[torch.Tensor], Any], ...] = (
    # Printing, and the libraries of matrices, transforms and layers.
    repr,
    lambda x: torch.nn.functional.conv2d(x.expand(2, 3, 4, 4), x[:3, :3].expand(5, 3, 3, 3)),
    torch.linalg.svd,
    lambda x: torch.linalg.solve(x + torch.eye(4), x),
    lambda x: torch.linalg.inv(x + torch.eye(4)),
    torch.fft.fft,
    lambda x: [x.to(dtype) @ x.to(dtype) for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int64)],
    lambda x: (x @ x, x[None] @ x[None], torch.einsum("ij,jk->ik", x, x)),
    lambda x: (torch.nn.Linear(4, 2)(x), torch.nn.functional.linear(x, x)),
    lambda x: torch.nn.functional.layer_norm(x, (4,)),
    lambda x: torch.nn.functional.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None]),
    lambda x: (torch.softmax(x, -1), torch.relu(x), x.exp()),
    # What looks into tensors, and what moves numbers about.
    lambda x: (torch.allclose(x, x), x.tolist(), x[0, 0].item(), x.numpy().sum(), torch.from_numpy(np.ones(3))),
    lambda x: (x[torch.tensor([0, 1])], x[x > 0], x[0, :2], x[..., None], x.clone().index_fill_(0, x[0].long(), 0)),
    lambda x: (x.sum(), x.mean(0), x.argmax(), x.cumsum(0), x.sort(), x.topk(2), x.unique()),
    lambda x: (torch.cat([x, x]), torch.stack([x, x]), torch.where(x > 0, x, -x), x.T.contiguous(), x.view(-1)),
    lambda x: (x.gather(1, torch.zeros(4, 1, dtype=torch.long)), x.scatter_add(0, torch.zeros_like(x).long(), x)),
)


def rehearse() -> None:
    """Answer some requests about a submission that there is not."""
    submission, check, caps = Submission("/", SimpleNamespace(part=_part)), Exchange(asks=True), Caps()
    check.reset()
    for number in range(_ROUNDS):
        out = Outgoing(check)
        call = Call(["named", "student", "part"], [out.value(torch.ones(3, 4)), out.value(number)], {})
        objects, data = out.finish()
        text = write_tree(Asked(call, objects, _SEED, grad=True).plain(), caps)
        frame = Frame(number, parse_tree(text, caps), memoryview(bytearray().join(data)))
        for reply, _ in submission.answers(frame):
            write_tree(reply.plain(), caps)
        out.release()
        check.end_call()


def _part(x: torch.Tensor, number: int) -> Any:
    x[0] = number
    if number > 1:
        raise ValueError(number)
    return x[1:], [x.sum(), {"numbers": (1, 2.5)}]
