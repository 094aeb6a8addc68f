"""CUDA graphs: recorded once, done again by one launch."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from accelerator.modes import in_mode, raises
from torch import nn

from grader import accelerator

cuda: Any = torch.cuda


def captured(work: Callable[[], Any]) -> Any:
    """The graph of some work."""
    graph = cuda.CUDAGraph()
    with cuda.graph(graph):
        work()
    return graph


@in_mode("cuda")
def test_a_graph_does_its_work_at_each_replay() -> None:
    """Capturing changes nothing and leaves zeros; a replay reads what its inputs hold by then, also pinned memory."""
    x, total, host = torch.ones(4, device="cuda"), torch.zeros(4, device="cuda"), torch.ones(4).pin_memory()
    made: list[torch.Tensor] = []

    def work() -> None:
        x.copy_(host, non_blocking=True)
        made.append((x * 2).view(2, 2).view(4))
        total.add_(made[0])

    graph = captured(work)
    assert (made[0].tolist(), total.tolist()) == ([0] * 4, [0] * 4)
    for number in (1, 2, 3):
        host.fill_(number)
        graph.replay()
        torch.cuda.synchronize()  # the copy from pinned memory is over before the host writes there again
    assert (made[0].tolist(), total.tolist()) == ([6] * 4, [12] * 4)
    graph.reset()
    with raises(RuntimeError, "Called CUDAGraph::replay without a preceding successful capture."):
        graph.replay()


@in_mode("cuda")
def test_random_numbers_go_on() -> None:
    """Capturing draws no numbers; each replay draws the ones that the generator would give next."""
    made: list[torch.Tensor] = []
    graph = captured(lambda: made.append(torch.rand(3, device="cuda")))
    cuda.manual_seed(5)
    wanted = [torch.rand(3, device="cuda").tolist() for _ in range(2)]
    cuda.manual_seed(5)
    found = []
    for _ in range(2):
        graph.replay()
        found.append(made[0].tolist())
    assert found == wanted


@in_mode("cuda")
def test_training_in_graphs() -> None:
    """A whole step in a graph, and a module whose forward and backward are graphs, learn what the plain one learns."""
    data = [(torch.randn(8, 5, device="cuda"), torch.randn(8, 2, device="cuda")) for _ in range(3)]

    def fresh() -> tuple[nn.Module, Any]:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.Linear(6, 2)).cuda()
        return model, torch.optim.SGD(model.parameters(), lr=0.1)

    def step(model: Any, optimizer: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    plain, whole, parts = fresh(), fresh(), fresh()
    wanted = [step(*plain, x, y).item() for x, y in data]
    x, y = (torch.zeros_like(one) for one in data[0])
    losses: list[torch.Tensor] = []
    graph = captured(lambda: losses.append(step(*whole, x, y)))
    found = []
    for batch, target in data:
        x.copy_(batch)
        y.copy_(target)
        graph.replay()
        found.append(losses[0].item())
    assert found == wanted
    graphed = cuda.make_graphed_callables(parts[0], (x,))
    # The graph that was captured lives on, and with it the nodes that accumulate, which its stream made.
    with pytest.warns(UserWarning, match="AccumulateGrad node's stream does not match"):
        assert [step(graphed, parts[1], x, y).item() for x, y in data] == wanted


@in_mode("cuda")
def test_a_replay_is_one_launch() -> None:
    """The host launches once; kernels take their times, and those of streams that fork and join run side by side."""
    x, z = torch.ones(1000, 1000, device="cuda"), torch.ones(1000, 1000, device="cuda")
    side = cuda.Stream()

    def work() -> None:
        side.wait_stream(cuda.current_stream())
        with cuda.stream(side):
            cuda._sleep(1_400_000)
            y = x * 2
        cuda._sleep(1_400_000)
        for _ in range(20):
            z.add_(1)
        cuda.current_stream().wait_stream(side)
        y.add_(z)

    graph = captured(work)
    assert z[0, 0].item() == 1
    accelerator.reset_counters()
    graph.replay()
    found = accelerator.counters()
    assert (found["launches"], found["host_seconds"]) == (1, pytest.approx(5e-6))
    assert 1e-3 < found["device_seconds"][0] < 1.5e-3  # each of both sleeps for 1 ms
    assert z[0, 0].item() == 21


def forks() -> None:
    side = cuda.Stream()
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        torch.ones(3, device="cuda")


NOT_PERMITTED = "CUDA error: operation not permitted when stream is capturing"
NOT_PINNED = (
    "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned."
    if torch.__version__ >= "2.11"
    else NOT_PERMITTED
)
NOT_REGISTERED = (
    "RNG op during graph capture but generator is not registered with the capturing graph."
    if torch.__version__ >= "2.11"
    else "Attempt to increase offset for a CUDA generator not in capture mode."
)
SPOILED: dict[str, tuple[Callable[[torch.Tensor], Any], str]] = {
    "item": (lambda x: x.sum().item(), NOT_PERMITTED),
    "a mask": (lambda x: x[x > 0], NOT_PERMITTED),
    "synchronize": (lambda x: cuda.synchronize(), NOT_PERMITTED),
    "to the host": (lambda x: x.cpu(), NOT_PINNED),
    "from the host": (lambda x: torch.ones(3).cuda(), NOT_PINNED),
    "a list": (lambda x: torch.tensor([1.0], device="cuda"), NOT_PINNED),
    "other work": (
        lambda x: cuda.current_stream().wait_stream(cuda.default_stream()),
        "CUDA error: dependency created on uncaptured work in another stream",
    ),
    "an event": (
        lambda x: cuda.current_stream().record_event().synchronize(),
        "CUDA error: operation not permitted on an event last recorded in a capturing stream",
    ),
}


@in_mode("cuda")
def test_what_cannot_be_captured() -> None:
    """It raises CUDA's error, and after an error of the driver the end of the capture does, too.

    What PyTorch itself refuses leaves the capture valid: memory that is not pinned, a generator that is not registered.
    """
    x = torch.ones(3, device="cuda")
    draws: Any = (lambda x: torch.rand(3, device="cuda", generator=torch.Generator("cuda")), NOT_REGISTERED)
    for work, text in [*SPOILED.values(), *([draws] if torch.__version__ < "2.14" else [])]:
        end = "CUDA error: operation failed due to a previous error during capture" if text[:4] == "CUDA" else text
        with raises(RuntimeError, end) as told, cuda.stream(None):
            captured(lambda work=work: (x.add_(1), work(x)))  # type: ignore[misc]
        assert str(told.value if end == text else told.value.__context__).startswith(text)
        cuda.set_stream(cuda.default_stream())  # PyTorch leaves the stream of a failed capture in its place
    with raises(RuntimeError, "CUDA error: capturing stream has unjoined work"):
        captured(forks)
    cuda.set_stream(cuda.default_stream())
    with raises(RuntimeError, "CUDA graphs must be captured on a non-default stream."):
        cuda.CUDAGraph().capture_begin()
    with raises(RuntimeError, "only if new seed is the same"):
        captured(lambda: (x.add_(1), cuda.manual_seed(3)))
    weight = nn.Parameter(x.clone())
    weight.grad = x.clone()
    with raises(RuntimeError, "Attempting CUDA graph capture of step() for an instance of Adam but param_groups'"):
        captured(lambda: (x.add_(1), torch.optim.Adam([weight]).step()))
    assert (x.tolist(), cuda.is_current_stream_capturing()) == ([1, 1, 1], False)


@in_mode("cuda")
def test_a_backward_of_the_default_stream_cannot_be_captured() -> None:
    """Backward of what forward did on the default stream raises; `set_override_stale_capture_stream` allows it."""
    x = torch.ones(3, device="cuda", requires_grad=True)
    y = (x * 2).sum()
    graph: Any = torch.autograd.graph
    overrides = getattr(graph, "set_override_stale_capture_stream", None)
    text = "CUDA error: operation would make the legacy stream depend on a capturing blocking stream"
    if overrides is not None:
        text = "has a stale reference to the default stream (stream 0) from warmup."
    with raises(RuntimeError, text if overrides else "previous error during capture"):
        captured(lambda: torch.autograd.grad(y, x, retain_graph=True))
    cuda.set_stream(cuda.default_stream())
    if overrides is not None:
        overrides(True)
        kept: list[torch.Tensor] = []
        captured(lambda: kept.extend(torch.autograd.grad(y, x, retain_graph=True))).replay()
        assert kept[0].tolist() == [2, 2, 2]
    with raises(RuntimeError, "previous error during capture") as told:
        captured(lambda: (x.detach().add_(1), cuda.default_stream().wait_stream(cuda.current_stream())))
    assert str(told.value.__context__).startswith("CUDA error: operation would make the legacy stream depend on a")


CALLS: dict[str, Callable[[cuda.Stream, cuda.Event], Any]] = {
    "query an event": lambda other, event: event.query(),
    "wait for an event": lambda other, event: event.synchronize(),
    "wait for a stream": lambda other, event: other.synchronize(),
    "wait for the device": lambda other, event: cuda.synchronize(),
    "query an event that was not recorded": lambda other, event: cuda.Event().query(),
    "kernels on another stream": lambda other, event: _add_on(other),
}
ALL = {(mode, thread) for mode in ("global", "thread_local", "relaxed") for thread in ("this", "other")}
UNSAFE = {("global", "this"), ("global", "other"), ("thread_local", "this")}
FORBIDDEN = {
    "query an event": UNSAFE,
    "wait for an event": UNSAFE,
    "wait for a stream": UNSAFE,
    "wait for the device": ALL,
}


def _add_on(stream: cuda.Stream) -> None:
    with cuda.stream(stream):
        torch.ones(3, device="cuda").add_(1)


@pytest.mark.parametrize("name", CALLS)
@in_mode("cuda")
def test_the_modes_of_a_capture(name: str) -> None:
    """The mode says which threads may query and wait: none, only others, all; none may wait for the device."""
    refused = set()
    x, other, event = torch.zeros(3, device="cuda"), cuda.Stream(), cuda.Event()
    event.record()
    for mode, thread in ALL:
        errors: list[str] = []

        def call(errors: list[str] = errors) -> None:
            try:
                CALLS[name](other, event)
            except RuntimeError as error:
                errors.append(str(error).splitlines()[0])

        graph = cuda.CUDAGraph()
        side = cuda.Stream()
        try:
            with cuda.stream(side), cuda.graph(graph, capture_error_mode=mode):
                x += 1
                if thread == "this":
                    call()
                else:
                    worker = threading.Thread(target=call)
                    worker.start()
                    worker.join()
        except RuntimeError as error:
            assert str(error).startswith("CUDA error: operation failed due to a previous error during capture")
            assert errors == [NOT_PERMITTED]
            refused.add((mode, thread))
            cuda.set_stream(cuda.default_stream())
        else:
            assert errors == []
    assert refused == FORBIDDEN.get(name, set())


@in_mode("cuda")
def test_a_stream_that_captures_cannot_be_queried() -> None:
    """It raises in every mode; a second capture at the same time is refused in words, and the first goes on."""
    x = torch.zeros(3, device="cuda")
    for mode in ("global", "thread_local", "relaxed"):
        failed = raises(RuntimeError, "operation failed due to a previous error")
        with failed, cuda.graph(cuda.CUDAGraph(), capture_error_mode=mode):
            x += 1
            with raises(RuntimeError, NOT_PERMITTED):
                cuda.current_stream().query()
        cuda.set_stream(cuda.default_stream())
    graph = cuda.CUDAGraph()
    with cuda.graph(graph, capture_error_mode=mode):
        x += 1
        with cuda.stream(cuda.Stream()), raises(NotImplementedError, "captures one CUDA graph at a time"):
            cuda.CUDAGraph().capture_begin()
    graph.replay()
    assert x.tolist() == [1, 1, 1]


@in_mode("cuda")
def test_a_generator_registers_itself() -> None:
    """Since PyTorch 2.14, a generator that draws in a capture is registered: each replay draws new numbers."""
    if torch.__version__ < "2.14":
        return
    generator, drawn = torch.Generator("cuda"), torch.empty(3, device="cuda")
    graph = captured(lambda: drawn.copy_(torch.rand(3, device="cuda", generator=generator)))
    expected = torch.Generator("cuda")
    for _ in range(2):
        graph.replay()
        assert torch.equal(drawn, torch.rand(3, device="cuda", generator=expected))


@in_mode("cuda")
def test_when_a_graph_is_instantiated() -> None:
    """Without `keep_graph` it is when the capture ends, and not again; with it by the program or the first replay."""
    x = torch.ones(3, device="cuda")
    graph = captured(lambda: x.add_(1))
    with raises(RuntimeError, "instantiate() is intended to be called by the user only when keep_graph=true"):
        graph.instantiate()
    kept = cuda.CUDAGraph(keep_graph=True)
    with raises(RuntimeError, "capture_end() must have been called before calling instantiate"):
        kept.instantiate()
    for number in (10, 20):  # until it is instantiated, a capture replaces the one before
        with cuda.graph(kept):
            x.add_(number)
    kept.instantiate()
    kept.instantiate()
    kept.replay()
    assert x.tolist() == [21, 21, 21]
    with raises(RuntimeError, "This CUDAGraph instance already owns a captured graph."), cuda.graph(kept):
        pass
    cuda.set_stream(cuda.default_stream())
    find: Any = getattr(cuda.CUDAGraph, "get_currently_capturing_graph", None)
    if torch.__version__ >= "2.11":
        found: list[Any] = []
        graph = captured(lambda: found.extend([x.add_(1), find()]))
        assert found[1] is graph
        with raises(RuntimeError, "The current stream is not currently capturing."):
            find()


@in_mode("cuda")
def test_hooks_of_graphs() -> None:
    """PyTorch 2.14 calls hooks of a graph, and those of all graphs, and keeps objects until the graph is gone."""
    graphs: Any = torch.cuda.graphs
    if not hasattr(graphs, "register_graph_replay_start_hook"):
        return
    moments = ("capture_start", "capture_end", "instantiate", "replay_start", "replay_end")
    told: list[str] = []
    handles = [
        getattr(graphs, f"register_graph_{moment}_hook")(lambda _, moment=moment: told.append(f"all {moment}"))
        for moment in moments
    ]
    handles.append(graphs.register_graph_destroy_hook(lambda ids: told.append(f"all destroy {len(ids)}")))
    x, kept = torch.ones(1, device="cuda"), torch.ones(1)
    gone = weakref.ref(kept)
    graph = cuda.CUDAGraph()
    for moment in moments:
        name = "post_instantiate" if moment == "instantiate" else moment
        getattr(graph, f"register_{name}_hook")(
            lambda one, moment=moment: told.append(f"{moment} {type(one).__name__}")
        )
    graph.register_destroy_callback(lambda: told.append("destroy"), synchronize_before_release=True)
    graph.retain_object(kept)
    del kept
    with cuda.graph(graph):
        x.add_(1)
    graph.replay()
    assert (x.item(), gone() is None) == (2, False)
    expected = [line for moment in moments for line in (f"all {moment}", f"{moment} CUDAGraph")]
    assert told == expected
    del graph
    assert (told[len(expected) :], gone()) == (["all destroy 0", "destroy"], None)
    for handle in handles:
        handle.remove()
    captured(lambda: x.add_(1)).reset()
    assert len(told) == len(expected) + 2
