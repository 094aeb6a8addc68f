"""Streams that use the same memory without waiting for each other."""

from __future__ import annotations

import contextlib
import itertools
import re
import threading
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
import torch
import torch.distributed as dist
from accelerator.modes import grad_of, in_mode
from torch import nn

from grader import accelerator

cuda: Any = torch.cuda


def fresh() -> torch.Tensor:
    return torch.rand(1000, device="cuda")


def told(program: Callable[[Any], Any]) -> list[str]:
    """The races that a program is told of, up to their advice."""
    cuda.synchronize()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        program(cuda.Stream())
    assert all(one.filename == __file__ for one in found)
    return [str(one.message).partition(" (")[0] for one in found]


def reads_too_early(side: Any) -> None:
    x = fresh()
    with cuda.stream(side):
        y = x * 2
        y += x  # one missing wait is reported once


def main_reads_too_early(side: Any) -> None:
    with cuda.stream(side):
        y = fresh() * 2
    y.sum().item()


def host_reads_too_early(side: Any) -> None:
    with cuda.stream(side):
        y = fresh()
    y.tolist()


def writes_too_early(side: Any) -> None:
    x = fresh()
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        x.sum()
    x.zero_()


def waits_for_too_little(side: Any) -> None:
    x = fresh()
    side.wait_event(cuda.current_stream().record_event())
    x += 1
    with cuda.stream(side):
        x.sum()


def drops_too_early(side: Any) -> None:
    x = fresh()
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        x.sum()
    del x
    fresh()


def starts_backward_elsewhere(side: Any) -> None:
    x = fresh().requires_grad_()
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        y = x.sum()
    start = torch.ones_like(y)
    with cuda.stream(side):
        y.backward(start)


def copies_back_in_backward(side: Any) -> None:
    x = fresh().requires_grad_()

    def unpack(kept: torch.Tensor) -> torch.Tensor:
        with cuda.stream(side):
            return kept.to("cuda", non_blocking=True)

    with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved.cpu().pin_memory(), unpack):
        y = x.exp().sum()
    y.backward()


def scales_gradients_elsewhere(side: Any) -> None:
    x = fresh().requires_grad_()

    def scale(of: torch.Tensor) -> None:
        side.wait_stream(cuda.current_stream())
        with cuda.stream(side):
            grad_of(of).mul_(0.5)

    x.register_post_accumulate_grad_hook(scale)
    (x * 2).sum().backward()
    grad_of(x).add_(1)


WRONG = {
    copies_back_in_backward: r"mul on the default stream uses what copy_ on stream \d+ writes",
    scales_gradients_elsewhere: r"add_ on the default stream uses what mul_ on stream \d+ writes",
    reads_too_early: r"mul on stream \d+ uses what uniform_ on the default stream writes",
    main_reads_too_early: r"sum on the default stream uses what mul on stream \d+ writes",
    host_reads_too_early: r"tolist on the default stream uses what uniform_ on stream \d+ writes",
    writes_too_early: r"zero_ on the default stream writes to what sum on stream \d+ reads",
    waits_for_too_little: r"sum on stream \d+ uses what add_ on the default stream writes",
    drops_too_early: r"uniform_ on the default stream gets memory that sum on stream \d+ still uses",
    starts_backward_elsewhere: r"backward on stream \d+ uses what ones_like on the default stream writes",
}


@in_mode("cuda")
def test_a_missing_wait_is_reported() -> None:
    """What one stream uses before another is done with it is told once, at the program's line."""
    for program, text in WRONG.items():
        (found,) = told(program)
        assert re.fullmatch(text, found), found


def waits(side: Any) -> None:
    x = fresh()
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        y = x * 2
    cuda.current_stream().wait_stream(side)
    x.zero_()
    y.sum().item()


def waits_for_an_event(side: Any) -> None:
    first, second = cuda.Event(), cuda.Event()
    x = fresh()
    first.record()
    side.wait_event(first)
    with cuda.stream(side):
        x += 1
        second.record()
    other = cuda.Stream()
    second.wait(other)
    with cuda.stream(other):
        x.sum().item()
    x.sum()  # the host waited for what waited for the others


def the_host_waits(side: Any) -> None:
    waits: list[Callable[[], Any]] = [cuda.synchronize, cuda.current_stream().synchronize]
    for wait in waits:
        x = fresh()
        wait()
        with cuda.stream(side):
            x += 1
        side.synchronize()
        x.sum()
    with cuda.stream(side):
        x = fresh()
        event = side.record_event()
    event.synchronize()
    x.sum()


def fetches_ahead(side: Any) -> None:
    host = [torch.rand(1000).pin_memory() for _ in range(4)]
    coming: torch.Tensor | None = None
    for batch in [*host, None]:
        cuda.current_stream().wait_stream(side)
        now, coming = coming, None
        if now is not None:
            now.record_stream(cuda.current_stream())
        if batch is not None:
            with cuda.stream(side):
                coming = batch.to("cuda", non_blocking=True)
        if now is not None:
            now.sum()


def learns_on_another_stream(side: Any) -> None:
    model = nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 1)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        side.wait_stream(cuda.current_stream())
        with cuda.stream(side):
            loss = model(torch.rand(5, 10, device="cuda")).sum()
        # Backward takes the streams of forward by itself, and waits for them at last.
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    cuda.current_stream().wait_stream(side)
    assert grad_of(next(model.parameters())).sum().item() == 0 or loss.item() != 0


def uses_two_devices(side: Any) -> None:
    with cuda.stream(side):
        x = fresh()
        y = x.to("cuda:1", non_blocking=True)
        (x + 1).sum()
    y.sum()
    both = nn.DataParallel(nn.Linear(4, 4).cuda())
    both(torch.rand(6, 4)).sum().backward()


def reuses_its_own_memory(side: Any) -> None:
    with cuda.stream(side):
        for _ in range(3):
            x = fresh()
            y = torch.ones_like(x) + x
            del x, y


RIGHT = [
    *(waits, waits_for_an_event, the_host_waits, fetches_ahead, learns_on_another_stream, uses_two_devices),
    reuses_its_own_memory,
]


@in_mode("cuda")
def test_right_programs_hear_nothing() -> None:
    """Waits of streams, events and the host, record_stream, backward, and copies between devices are all seen."""
    assert {program.__name__: told(program) for program in RIGHT} == {program.__name__: [] for program in RIGHT}


@in_mode("cuda")
def test_both_lines_are_reported() -> None:
    """The warning stands at the line that should have waited, and names the other."""
    line = r"\(test_races.py:\d+, `x = torch.ones\(4, device=.cuda.\)  # here`\), without"
    with pytest.warns(UserWarning, match=line) as found:
        x = torch.ones(4, device="cuda")  # here
        with cuda.stream(cuda.Stream()):
            x.sum()  # there
    with open(__file__, encoding="utf-8") as file:
        assert "# there" in file.read().splitlines()[found[0].lineno - 1]


@in_mode("cuda")
def test_the_sanitizer_raises() -> None:
    """PyTorch's own switch makes a race an error of its own class; afterwards work goes on."""
    import torch.cuda._sanitizer as csan

    csan.enable_cuda_sanitizer()
    side, x = cuda.Stream(), fresh()
    with cuda.stream(side):
        with pytest.raises(csan.CUDASanitizerErrors, match="sum on stream"):
            x.sum()
        x.sum()


@in_mode("cuda")
def test_captured_copies_read_at_each_replay() -> None:
    """A copy from pinned memory that a graph holds reads it at each replay, and not while it is captured."""
    pinned, there = torch.ones(4).pin_memory(), torch.zeros(4, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        there.copy_(pinned, non_blocking=True)
    pinned.fill_(2)
    torch.cuda.synchronize()
    graph.replay()
    pinned.fill_(3)
    with pytest.warns(accelerator.RaceWarning, match="reads pinned memory .* that the host wrote to before it waited"):
        torch.cuda.synchronize()
    assert there.tolist() == [2, 2, 2, 2]
    for copy in (graph.replay, lambda: there.copy_(pinned, non_blocking=True)):
        copy()
        torch.cuda.synchronize()
        pinned.fill_(4)  # the copy is done
        torch.cuda.synchronize()
    assert accelerator.the_machine().races.count == 1


@in_mode("cuda")
def test_parameters_that_no_gradient_reaches() -> None:
    """A model of several processes finds them, in each step or in the first one."""
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)  # type: ignore[attr-defined]
    every: tuple[dict[str, Any], ...] = ({"find_unused_parameters": True}, {"static_graph": True})
    for options in every:
        both = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)]).cuda()
        both.forward = both[0].forward
        model = nn.parallel.DistributedDataParallel(both, device_ids=[0], **options)
        for _ in range(2):
            model(torch.ones(1, 2, device="cuda")).sum().backward()
        assert [one.weight.grad is None for one in both] == [False, True]


@in_mode("cuda")
def test_a_collective_that_is_used_before_wait() -> None:
    """NCCL works on a stream of its own: whoever reads or writes its tensors before `wait()` is told once."""
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)  # type: ignore[attr-defined]
    x, parts = fresh(), [fresh()]

    def reads(side: Any) -> None:
        work = dist.all_reduce(x, async_op=True)
        (x * 2).sum()
        work.wait()

    def writes(side: Any) -> None:
        dist.all_gather(parts, x, async_op=True)
        x.zero_()

    def drops(side: Any) -> None:
        dist.all_reduce(fresh(), async_op=True)
        fresh()

    def waits(side: Any) -> None:
        dist.all_reduce(x)
        x.sum()
        works = [dist.all_reduce(x, async_op=True), dist.all_gather(parts, x, async_op=True)]
        for work in works:
            work.wait()
        (x + parts[0]).sum()

    def sends(side: Any) -> None:
        work = dist.broadcast(x, 0, async_op=True)
        x.sum()  # the source may be read meanwhile
        work.wait()
        x.add_(1)

    def asks(side: Any) -> None:
        work = dist.all_reduce(x, async_op=True)
        work.get_future().wait()
        x.sum()
        dist.all_reduce(x, async_op=True)
        cuda.synchronize()
        x.sum()

    wrong = {
        reads: "mul on the default stream uses what all_reduce on NCCL's stream writes",
        writes: "zero_ on the default stream writes to what all_gather on NCCL's stream reads",
    }
    for program, text in wrong.items():
        assert told(program) == [text]
    for right in (drops, waits, sends, asks):
        assert told(right) == [], right.__name__
    with pytest.warns(accelerator.RaceWarning, match=r"Call wait\(\) of the work that it returned before this line"):
        dist.all_reduce(x, async_op=True)
        x.sum()
    dist.destroy_process_group()


# -- backward ----------------------------------------------------------------------------------------------------------


class Squared(torch.autograd.Function):
    """A program's function that notes on which streams it runs."""

    seen: ClassVar[list[Any]] = []

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        Squared.seen.append(cuda.current_stream())
        (x,) = ctx.saved_tensors
        return torch.mul(2 * x, grad)


@in_mode("cuda", indices=2)
def test_backward_runs_on_the_streams_of_forward() -> None:
    """Functions and hooks in backward see the stream of their forward; one that they choose holds for them alone."""
    side, other, main = cuda.Stream(), cuda.Stream(), cuda.default_stream()
    seen: list[Any] = []
    x = fresh().requires_grad_()
    for stream in (side, other):
        stream.wait_stream(main)
    Squared.seen.clear()
    function: Any = Squared
    with cuda.stream(side):
        y = function.apply(x)

    def hook(grad: torch.Tensor) -> torch.Tensor:
        with cuda.stream(other):
            seen.append(cuda.current_stream())
            other.wait_stream(side)
            doubled = grad * 2
        side.wait_stream(other)
        seen.append(cuda.current_stream())
        return doubled

    y.register_hook(hook)
    main.wait_stream(side)
    z = y * 3
    z.register_hook(lambda grad: seen.append(cuda.current_stream()))
    x.register_post_accumulate_grad_hook(lambda x: seen.append(cuda.current_stream()))
    with cuda.stream(other):
        other.wait_stream(main)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            z.sum().backward(retain_graph=True)
            # The stream that called backward waits for all of it.
            assert torch.equal(grad_of(x), 12 * x.detach())
        assert cuda.current_stream() == other
    assert (seen, Squared.seen) == ([main, other, side, side], [side])
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert torch.allclose(second, torch.full_like(second, 4.0))
    assert cuda.current_stream() == main


@in_mode("cuda")
def test_backward_of_streams_that_take_turns() -> None:
    """In a loop, each step is on the stream it was on in forward; on the clock, steps wait for each other."""
    side, main, seen = cuda.Stream(), cuda.default_stream(), []
    x = fresh().requires_grad_()
    y = x
    for number in range(4):
        stream = side if number % 2 else main
        stream.wait_stream(side if stream is main else main)
        with cuda.stream(stream):
            y = y * 1
            y.register_hook(lambda grad: seen.append(cuda.current_stream()))
    main.wait_stream(side)
    machine = accelerator.the_machine()
    y.sum().backward()
    assert seen == [side, main, side, main]
    names = {0: "default", side.queue[1]: "side"}
    spans = [span for span in machine.clock.spans if span.name == "mul" and span.place == "0"][-4:]
    assert [names[span.stream] for span in spans] == ["side", "default", "side", "default"]
    assert all(before.end <= after.start for before, after in itertools.pairwise(spans))


@in_mode("cuda")
def test_backward_of_a_function_that_fails_leaves_the_stream() -> None:
    """After an error in backward, the stream that called it is current."""
    side, main = cuda.Stream(), cuda.default_stream()
    x = fresh().requires_grad_()
    side.wait_stream(main)
    with cuda.stream(side):
        y = x * 2

    def hook(grad: torch.Tensor) -> None:
        raise KeyError(str(cuda.current_stream() == side))

    y.register_hook(hook)
    main.wait_stream(side)
    with pytest.raises(KeyError, match="True"):
        y.sum().backward()
    assert cuda.current_stream() == main


@in_mode("cuda")
def test_accumulators_keep_their_stream_while_a_graph_lives() -> None:
    """The node that accumulates into a leaf runs on the stream of the graph that made it; PyTorch warns of another."""
    side, main, seen = cuda.Stream(), cuda.default_stream(), []
    for keeps in (False, True):
        x = fresh().requires_grad_()
        x.register_post_accumulate_grad_hook(lambda x: seen.append(cuda.current_stream()))
        loss = (x * 2).sum()
        loss.backward()
        if not keeps:
            del loss
        side.wait_stream(main)
        with cuda.stream(side), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            (x * 2).sum().backward()
            assert cuda.current_stream() == side
            # The stream that called backward waits for all of it.
            assert torch.equal(grad_of(x), torch.full_like(x, 4.0))
        assert [issubclass(one.category, accelerator.RaceWarning) for one in told] == [False] * keeps
        assert not told or "The AccumulateGrad node's stream does not match the stream of" in str(told[0].message)
        main.wait_stream(side)
    assert seen == [main, side, main, main]


@in_mode("cuda")
def test_accumulators_from_before_there_were_streams() -> None:
    """The default stream is that of a node made before a program had another one; it cannot be captured."""
    x, y = fresh().requires_grad_(), fresh().requires_grad_()
    kept, dropped = (x * 2).sum(), (y * 2).sum()
    kept.backward()
    dropped.backward()
    del dropped
    x.grad = y.grad = None
    graph = cuda.CUDAGraph()
    with cuda.graph(graph):
        (y * 2).sum().backward()
    graph.replay()
    assert torch.equal(grad_of(y), torch.full_like(y, 2.0))
    with pytest.raises(RuntimeError) as raised, cuda.graph(cuda.CUDAGraph()):
        (x * 2).sum().backward()
    if hasattr(torch._C, "_override_stale_capture_stream"):
        error: BaseException | None = raised.value
        texts = []
        while error is not None:
            texts.append(str(error))
            error = error.__context__
        assert any("node 'torch::autograd::AccumulateGrad' has a stale reference to the default" in t for t in texts)


@in_mode("cuda")
def test_the_warning_can_be_switched_off() -> None:
    """Nothing warns of streams of accumulators after PyTorch's function for that."""
    side = cuda.Stream()
    torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    x = fresh().requires_grad_()
    loss = (x * 2).sum()
    side.wait_stream(cuda.current_stream())
    loss.backward()
    with cuda.stream(side):
        side.wait_stream(cuda.default_stream())
        (x * 2).sum().backward()  # a warning would be an error here


@pytest.mark.parametrize("forward_in_a_thread", [True, False])
@in_mode("cuda")
def test_graphs_of_other_threads(forward_in_a_thread: bool) -> None:
    """Backward runs on the streams of forward, whichever thread made the graph, and whichever calls backward."""
    side, seen = cuda.Stream(), []
    x = fresh().requires_grad_()
    for _ in range(3):  # numbers of nodes of this thread, which those of another one repeat
        (x * 1).sum()
    side.wait_stream(cuda.current_stream())
    made: list[torch.Tensor] = []

    def forward() -> None:
        with cuda.stream(side):
            y = x * 2
            y.register_hook(lambda grad: seen.append(cuda.current_stream()))
            made.append((y * 3).sum())

    def backward() -> None:
        made[0].backward()
        assert torch.equal(grad_of(x), torch.full_like(x, 6.0))

    if not forward_in_a_thread:
        forward()
    thread = threading.Thread(target=forward if forward_in_a_thread else backward)
    thread.start()
    thread.join()
    if forward_in_a_thread:
        backward()
    assert seen == [side]
    assert accelerator.the_machine().races.count == 0


def _apart(x: torch.Tensor, side: cuda.Stream) -> torch.Tensor:
    return _on(side, lambda: (x * 2).sum()) + (x * 3).sum()


def _passed_on(x: torch.Tensor, side: cuda.Stream) -> torch.Tensor:
    first = (x + 1).sum()  # whose backward hands its gradient on, and computes nothing
    return first + _on(side, lambda: (x + 1).sum())


def _on(side: cuda.Stream, call: Callable[[], torch.Tensor]) -> torch.Tensor:
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        made = call()
    cuda.current_stream().wait_stream(side)
    made.record_stream(cuda.current_stream())
    return made


LEAVES: dict[str, tuple[Callable[[torch.Tensor, cuda.Stream], torch.Tensor], bool]] = {
    "two streams": (_apart, True),
    "two streams, with nothing to compute": (_passed_on, True),
    "one stream, and the loss on another": (lambda x, side: _on(side, lambda: (x * 2).sum()) * 3, False),
    "a copy of the leaf for each stream": (lambda x, side: _apart(x * 1, side), False),
}


@pytest.mark.parametrize("backward", ["backward", "grad"])
@pytest.mark.parametrize("name", LEAVES)
@in_mode("cuda")
def test_a_leaf_that_two_streams_use_in_one_forward(name: str, backward: str) -> None:
    """PyTorch warns, once, if a gradient comes from another stream than the leaf's first use; also in autograd.grad."""
    forward, warns = LEAVES[name]
    x, side = fresh().requires_grad_(), cuda.Stream()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(2):
            loss = forward(x, side)
            if backward == "grad":
                torch.autograd.grad(loss, x)
            else:
                loss.backward()
    assert ["AccumulateGrad node's stream does not match" in str(one.message) for one in told] == [True] * warns


def _with_streams(
    copy: Callable[[torch.Tensor], torch.Tensor], *indices: int
) -> Callable[[torch.Tensor], torch.Tensor]:
    """A call on the first stream that the program makes on each of some devices."""

    def call(x: torch.Tensor) -> torch.Tensor:
        sides = [cuda.Stream(index) for index in indices]
        assert len({side.stream_id for side in sides}) == 1
        assert len({side.cuda_stream for side in sides}) == len(sides)
        with contextlib.ExitStack() as stack:
            for side in sides:
                stack.enter_context(cuda.stream(side))
            cuda.synchronize(0)
            made = copy(x)
            for index in range(2):
                cuda.synchronize(index)
            return made

    return call


OLD = not hasattr(torch._C, "_override_stale_capture_stream")
BETWEEN_DEVICES: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], bool]] = {
    "default streams": (lambda x: x.to("cuda:1"), OLD),
    "a side stream there": (_with_streams(lambda x: x.to("cuda:1"), 1), True),
    "the first stream of each": (_with_streams(lambda x: x.to("cuda:1"), 0, 1), OLD),
    "an operator between": (lambda x: (x * 2).to("cuda:1"), False),
    "to the host": (lambda x: x.cpu(), False),
    "to the host, on a side stream": (_with_streams(lambda x: x.cpu(), 0), True),
}


@pytest.mark.parametrize("name", BETWEEN_DEVICES)
@in_mode("cuda")
def test_a_leaf_that_is_copied_to_another_device(name: str) -> None:
    """PyTorch compares the streams of two devices: 2.10 by device and id, newer ones by id alone."""
    copy, warns = BETWEEN_DEVICES[name]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        copy(fresh().requires_grad_()).sum().backward()
    assert ["AccumulateGrad node's stream does not match" in str(one.message) for one in told] == [True] * warns
