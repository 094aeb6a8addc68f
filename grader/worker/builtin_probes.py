"""Built-in probes: functions of ours that run beside student code. What they return is untrusted.

Those that need no PyTorch are in `plain_probes`.

`run_on_ranks` calls a function on several ranks: processes of one worker that talk over gloo, each with arguments of
its own. All of them are the student's. Each counts its own collectives.
"""

from __future__ import annotations

import contextlib
import copy
import datetime
import importlib
import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd.gradcheck import GradcheckError

from grader.accelerator.sim.machine import machine_or_none
from grader.worker import plain_probes
from grader.worker.counting import call_with_poisoned_memory as call_with_poisoned_memory
from grader.worker.counting import count_costs as count_costs
from grader.worker.counting import rows_of
from grader.worker.plain_probes import echo_last_argument as echo_last_argument
from grader.worker.plain_probes import is_instance as is_instance
from grader.worker.plain_probes import run_program as run_program
from grader.worker.plain_probes import run_snippet as run_snippet
from grader.worker.surroundings import seed as seed_all

_MAX_TEXT = 300
_MOST_SPANS = 4000

_RANK_WAIT_S = 10
"""How long a rank waits in a collective for others that do something else: less than a call may take. A rank that
waits for one that is done notices at once, because that rank's connections are closed."""

_WAITED = ("timed out", "closed by peer", "reset by peer", "read error", "broken pipe")
"""What gloo says, in lower case, where another rank did not come to a collective."""

_COUNTED = "collectives", "sent"
_DISTRIBUTED = "torch.distributed"
_PLAIN = (int, float, complex, str, list, tuple, dict, type(None))


def take_spans() -> list[list[Any]]:
    """Return what the simulated accelerator did since the last call, and forget it.

    Each row is a span of virtual time, such as a kernel or a copy, as `rows_of` describes it. At most 4000 rows are
    returned, and the rest is discarded. Without a simulated accelerator the list is empty.
    """
    machine = machine_or_none()
    if machine is None:
        return []
    rows = rows_of(machine.clock.spans[:_MOST_SPANS])
    machine.clock.spans.clear()
    return rows


def call_seeded(function: Callable[..., Any], seed: int, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Seed the generators of PyTorch, NumPy and Python, then call a function and return its result.

    Args:
        function: the student's function.
        seed: the seed of the generators.
        args: its arguments.
        kwargs: its arguments by name.
    """
    seed_all(seed, devices=True)
    return function(*args, **kwargs)


def capture(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> list[Any]:
    """Call a function; return its result, what it printed, and what it warned of.

    Args:
        function: the student's function.
        args: its arguments.
        kwargs: its arguments by name.

    Returns:
        A list of the result, the text on standard output, the text on standard error, the warnings, and whether
        warnings are still shown. A warning is a list of its category and its text. Warnings are not shown any more if
        student code has silenced them for good.
    """
    always = torch.is_warn_always_enabled()
    # PyTorch gives many of its warnings once in a process, so the second check of it would hear nothing. Those of the
    # old storages have a switch of their own.
    torch.set_warn_always(True)
    torch.storage._reset_warn_typed_storage_removal()
    try:
        return plain_probes.capture(function, args, kwargs)
    finally:
        torch.set_warn_always(always)


def idle_parameters(module: torch.nn.Module, args: list[Any]) -> list[Any]:
    """Call a module and `backward`, and find the parameters that get no gradient.

    `[2, True, ["weight"]]` says that one of two parameters, `weight`, gets none. `backward` starts at the sum of the
    squared result. A gradient of zeros alone counts as no gradient.

    Returns:
        The number of trainable parameters, whether the result requires a gradient, and the names of the parameters
        without a gradient; no names if the result requires no gradient.
    """
    parameters = {name: each for name, each in module.named_parameters() if each.requires_grad}
    module.zero_grad()
    result = module(*args)
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        return [len(parameters), False, []]
    result.square().sum().backward()
    idle = [name for name, each in parameters.items() if each.grad is None or not bool((each.grad != 0).any())]
    return [len(parameters), True, idle]


def training_step(
    function: Callable[..., Any], batch: Sequence[Any], model: str, loss: str, optimizer: str, steps: int, seed: int
) -> list[Any]:
    """Call a student's training step several times, with a new model.

    A call is `function(model, loss, optimizer, *batch)`.

    Returns:
        A list of the last result and three dicts by parameter name: the parameters before the calls, the parameters
        after them, and the gradients after them.

    Args:
        function: the student's step of training.
        batch: the arguments after model, loss and optimizer.
        model: an expression that makes the model, with `torch` and `nn`.
        loss: an expression that makes the loss.
        optimizer: an expression that makes the optimizer, with `model`.
        steps: the number of calls.
        seed: the seed with which the model is made.
    """
    seed_all(seed, devices=True)
    names: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    net = names["model"] = eval(model, names)  # noqa: S307  the course's own
    criterion, optimizer_ = eval(loss, names), eval(optimizer, names)  # noqa: S307
    before = {name: each.detach().clone() for name, each in net.named_parameters()}
    result = [function(net, criterion, optimizer_, *batch) for _ in range(steps)][-1]
    after = {name: each.detach().clone() for name, each in net.named_parameters()}
    return [result, before, after, {name: each.grad for name, each in net.named_parameters()}]


def evaluation(function: Callable[..., Any], data: Sequence[Any], model: str, batch_size: int, seed: int) -> list[Any]:
    """Call a student's evaluation with a new model and a loader over data.

    The call is `function(model, loader)`.

    Returns:
        The result, whether the model is in training mode afterwards, whether a forward pass recorded gradients, whether
        one ran in training mode, and whether the model's state stayed as it was.

    Args:
        function: the student's function.
        data: tensors with equal first dims.
        model: an expression that makes the model, with `torch` and `nn`.
        batch_size: the batch size of the loader.
        seed: the seed with which the model is made.
    """
    seed_all(seed, devices=True)
    net = eval(model, {"torch": torch, "nn": torch.nn})  # noqa: S307  the course's own
    net.train()
    before = {name: each.clone() for name, each in net.state_dict().items()}
    recorded = []
    net.register_forward_hook(lambda *_: recorded.append([torch.is_grad_enabled(), net.training]))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data), batch_size=batch_size)
    result = function(net, loader)
    unchanged = all(torch.equal(each, before[name]) for name, each in net.state_dict().items())
    seen = [any(flags) for flags in zip(*recorded, strict=True)] or [False, False]
    return [result, net.training, *seen, unchanged]


def gradients(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, list[torch.Tensor | None]]:
    """Call a function; return its result and the gradients of its positional arguments.

    For `a * b` of `torch.ones(2)` and 3, the gradients are `[tensor([3., 3.]), None]`: those of `result.sum()`. A
    tensor of a floating-point or complex dtype is replaced by a copy that requires a gradient. The gradient is None for
    any other argument, and for one that the result does not depend on.
    """
    # New leaves, so that the gradients are those of this call, and nothing is added to a tensor of the check's.
    fresh = [_with_gradient(arg) for arg in args]
    result = function(*fresh, **kwargs)
    wanted = {place: arg for place, arg in enumerate(fresh) if isinstance(arg, torch.Tensor) and arg.requires_grad}
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        return result, [None] * len(args)
    # `autograd.grad` rather than `backward`, which would leave gradients on the student's own parameters.
    made = torch.autograd.grad(result.sum(), [*wanted.values()], allow_unused=True)
    grads = dict(zip(wanted, made, strict=True))
    return result, [grads.get(place) for place in range(len(args))]


def keeps_gradients(function: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
    """Return whether a function leaves `requires_grad` and `grad` of its arguments unchanged.

    The function is called twice: with floating-point tensors that require a gradient, and with copies of the arguments.
    What a call raises is ignored.
    """
    same_grads = True
    for requires_grad in (True, False):
        fresh = [_with_gradient(arg) if requires_grad else copy.deepcopy(arg) for arg in args]
        leaves = [arg for arg in fresh if isinstance(arg, torch.Tensor) and arg.is_leaf]
        before = [(leaf.requires_grad, torch.full_like(leaf, 7) if leaf.requires_grad else None) for leaf in leaves]
        for leaf, (_, grad) in zip(leaves, before, strict=True):
            leaf.grad = None if grad is None else grad.clone()
        with contextlib.suppress(Exception):  # a call that refuses them is for other checks
            function(*fresh, **kwargs)
        for leaf, (requires, grad) in zip(leaves, before, strict=True):
            same = leaf.grad is None if grad is None else leaf.grad is not None and torch.equal(leaf.grad, grad)
            same_grads = same_grads and same and leaf.requires_grad is requires
    return same_grads


_ROUGHLY = {"eps": 1e-2, "atol": 1e-2, "rtol": 1e-2}
"""Arguments of gradcheck for a result that is rounded to float32."""


def gradcheck(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Compare the gradients of a function with finite differences in float64.

    Return a text on how they differ, "" if they agree.

    A result in a less precise dtype than float64 rounds the differences, though the gradient may be right. So a float32
    result gets larger steps and a larger tolerance. A float16 or bfloat16 result only has to require a gradient.
    """
    floats = (arg.double() if isinstance(arg, torch.Tensor) and arg.is_floating_point() else arg for arg in args)
    fresh = [_with_gradient(arg) for arg in floats]
    result = function(*(_with_gradient(arg) for arg in fresh), **kwargs)
    dtype = getattr(result, "dtype", None)
    if dtype in (torch.float16, torch.bfloat16) and result.requires_grad:
        return ""
    steps: Any = _ROUGHLY if dtype in (torch.float32, torch.float16, torch.bfloat16) else {}
    try:
        torch.autograd.gradcheck(lambda *inputs: function(*inputs, **kwargs), tuple(fresh), **steps)
    except GradcheckError as error:
        return str(error)
    return ""


def _with_gradient(arg: Any) -> Any:
    if isinstance(arg, torch.Tensor) and (arg.dtype.is_floating_point or arg.dtype.is_complex):
        return arg.detach().clone().requires_grad_()
    return arg


def run_on_ranks(function: Callable[..., Any], each: Sequence[list[Any]]) -> list[dict[str, Any]]:
    """Call a function on several ranks, and return how each rank ended.

    There is one rank for each list of arguments in `each`.

    Returns:
        A dict for each rank. Its key `ended` is "returned", "raised", "waits" (for other ranks in a collective) or
        "died". With "returned", the other keys are `result`, `collectives` (the number of calls of each), `sent` (bytes
        handed to collectives) and `changed` (whether the call changed a tensor argument). With "raised", `raised` is a
        list of the exception's type name and text. With "waits", `timed_out` is True if the rank waited until its
        timeout, as it does when the others are in another collective.
    """
    # Here and not at the top: a worker without ranks does not pay for it. Before the fork, so that it is paid for once.
    importlib.import_module(_DISTRIBUTED)
    with tempfile.TemporaryDirectory() as folder:
        pids = [_start_rank(function, args, rank, len(each), folder) for rank, args in enumerate(each)]
        for pid in pids:
            os.waitpid(pid, 0)
        return [_read_rank_result(os.path.join(folder, str(rank))) for rank in range(len(each))]


def _start_rank(function: Callable[..., Any], args: list[Any], rank: int, size: int, folder: str) -> int:
    """Fork a child that runs one rank, and return its process id.

    The child writes its result into a file of the folder, with the rank as its name.
    """
    pid = os.fork()
    if pid:
        return pid
    # From here on in the child, which never comes back.
    try:
        torch.save(_run_rank(function, args, rank, size, folder), os.path.join(folder, str(rank)))
    finally:
        os._exit(0)


def _run_rank(function: Callable[..., Any], args: list[Any], rank: int, size: int, folder: str) -> dict[str, Any]:
    """Call the function as one rank, and return the dict that `run_on_ranks` describes."""
    dist = importlib.import_module(_DISTRIBUTED)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK=str(rank))
    store = dist.FileStore(os.path.join(folder, "store"), size)
    timeout = datetime.timedelta(seconds=_RANK_WAIT_S)
    before = [arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args]
    try:
        dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=timeout)
        # A rank that is done at once would close connections while others still open them.
        store.set(f"connected {rank}", "")
        store.wait([f"connected {other}" for other in range(size)], timeout)
        result, cost = count_costs(function, args, {})
    except Exception as error:  # any exception of student code is reported, with its type
        if any(words in str(error).lower() for words in _WAITED):
            return {"ended": "waits", "timed_out": _WAITED[0] in str(error).lower()}
        return {"ended": "raised", "raised": [type(error).__name__, str(error)[:_MAX_TEXT]]}
    pairs = [pair for pair in zip(before, args, strict=True) if isinstance(pair[0], torch.Tensor)]
    changed = not all(old.shape == new.shape and torch.equal(old.nan_to_num(), new.nan_to_num()) for old, new in pairs)
    if isinstance(result, torch.Tensor):
        result = result.detach().clone()  # not the storage behind a view
    elif not isinstance(result, _PLAIN):
        result = f"<{type(result).__name__}>"
    return {"ended": "returned", "result": result, "changed": changed, **{key: cost[key] for key in _COUNTED}}


def _read_rank_result(path: str) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = torch.load(path, weights_only=True)
    except (OSError, RuntimeError):  # the rank wrote no file, or a part of one
        return {"ended": "died"}
    return answer
