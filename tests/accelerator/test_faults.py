"""What programs that nobody prepared met: each behaves as on CUDA, or is refused in words."""

from __future__ import annotations

import copy
import io
import warnings
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
import torch
from accelerator.modes import counted, in_mode, raises
from torch import nn

from grader import accelerator

INDICES: dict[str, Any] = {
    "lists": [[0, 1], [1, 2]],
    "tensors in a list": [torch.tensor([0, 1]), torch.tensor([0, 1])],
    "a slice in a list": [0, slice(0, 2)],
    "None in a list": [None, 0],
    "an ellipsis in a list": [..., 0],
    "bools": [True, False, True],
    "one list in a list": [[0, 1]],
    "nothing": [],
    "numbers": [0, 2],
    "floats": [1.0],
    "a long list": list(range(3)) * 12,
    "a long list of lists": [[0]] * 33,
    "an array": np.array([[0, 1], [1, 2]]),
    "an array of one number": np.array(1),
    "an empty array": np.array([]),
    "arrays in a list": [np.array([0, 2]), np.array([0, 1])],
    "lists in a tuple": ([0, 1], [1, 2]),
    "a mask": np.array([[True, False, True, False]] * 3),
    "a range in a list": [range(2)],
}


@in_mode("cuda")
def test_indices_mean_what_they_mean_on_the_cpu() -> None:
    """A list is one index or several by PyTorch's own rule, to read and to write, which warns of the latter."""
    warnings.simplefilter("ignore", UserWarning)  # a list for several indices will mean something else some day
    for name, index in INDICES.items():
        x = torch.arange(24.0).reshape(3, 4, 2)
        on_device = x.cuda()
        assert torch.equal(on_device[index].cpu(), x[index]), name
        x[index] = on_device[index] = 5.0
        assert torch.equal(on_device.cpu(), x), name
    with pytest.warns(UserWarning, match="non-tuple sequence"):
        torch.ones(2, 2, device="cuda")[[[0], [1]]]


def _use_a_mask_of_bytes(x: torch.Tensor) -> None:
    mask = torch.tensor([1, 0, 1], dtype=torch.uint8, device=x.device)
    for _ in range(2):
        x[mask]
    x[mask] + x[mask]


def _copy_a_tensor(x: torch.Tensor) -> None:
    for _ in range(2):
        torch.tensor(x)
    x.new_tensor(x)


def _make_a_range(x: torch.Tensor) -> None:
    torch.range(0, 3, device=x.device)


def _told(work: Callable[[torch.Tensor], None], x: torch.Tensor) -> list[tuple[str, str, int]]:
    """The warnings of some work as Python shows them by default, once for each line."""
    globals().pop("__warningregistry__", None)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        work(x)
    return [(str(one.message), one.filename, one.lineno) for one in found]


@in_mode("cuda")
def test_warnings_stand_at_the_lines_of_the_program() -> None:
    """What PyTorch warns of within a function of ours is told in its words, at each line of the program once."""
    for work, lines in ((_use_a_mask_of_bytes, 2), (_copy_a_tensor, 2), (_make_a_range, 1)):
        here, there = (_told(work, torch.ones(3, device=device)) for device in ("cpu", "cuda"))
        assert len(here) == lines
        assert there == here
        assert {file for _, file, _ in there} == {work.__code__.co_filename}


@in_mode("cuda")
def test_wrapped_tensors_know_their_device() -> None:
    """Inside `vmap` and `grad` the device has its public name; a custom function's batched gradients are right."""
    seen = []

    def look(row: torch.Tensor) -> torch.Tensor:
        seen.append((str(row.device), row.is_cuda))
        return row.sum()

    rows = torch.ones(2, 3, device="cuda")
    torch.vmap(look)(rows)
    torch.func.grad(look)(rows[0])
    assert seen == [("cuda:0", True)] * 2

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return 2 * x

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            return 2 * grad

    x, doubled = torch.ones(3, device="cuda", requires_grad=True), cast(Any, Doubled).apply
    (found,) = torch.autograd.grad(doubled(x), x, torch.eye(3, device="cuda"), is_grads_batched=True)
    assert torch.equal(found.cpu(), 2 * torch.eye(3))


@in_mode("cuda")
def test_scripted_modules_move() -> None:
    """A scripted and a traced module go to the device and come back; saved they are from the CPU, as an error says."""
    plain = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).eval()
    x = torch.randn(4, 2)
    for category in (DeprecationWarning, FutureWarning):  # of torch.jit itself: the second one since PyTorch 2.14
        warnings.simplefilter("ignore", category)
    for moved in (torch.jit.script(plain), torch.jit.trace(plain, x)):
        assert isinstance(moved, nn.Module)
        moved.cuda()
        state = [*moved.parameters(), *moved.buffers()]
        assert {str(each.device) for each in state} == {"cuda:0"}
        assert torch.allclose(moved(x.cuda()).cpu(), plain(x))
        moved(x.cuda()).sum().backward()
        assert all(each.grad is not None for each in moved.parameters())
        with raises(NotImplementedError, "call its .cpu() before you save it, and .cuda() after you load it"):
            torch.jit.save(moved, io.BytesIO())
        assert {str(each.device) for each in moved.cpu().parameters()} == {"cpu"}
        file = io.BytesIO()
        torch.jit.save(moved, file)
        file.seek(0)
        assert {str(each.device) for each in torch.jit.load(file, map_location="cuda").parameters()} == {"cuda:0"}


def _lower_outside_autocast(x: torch.Tensor) -> Any:
    if torch.is_autocast_enabled():
        return x
    return x.to(torch.device("cpu")) + torch.fft.fftfreq(3)


@in_mode("cuda")
def test_scripts_know_what_is_replaced() -> None:
    """TorchScript compiles functions that name `torch.device`, autocast's state or another builtin that is replaced."""
    compile_it: Any = torch.jit.script
    with warnings.catch_warnings():
        for kind in (DeprecationWarning, FutureWarning):  # PyTorch 2.14 says it to all users
            warnings.simplefilter("ignore", kind)
        script = compile_it(_lower_outside_autocast)
    assert torch.equal(script(torch.ones(3, device="cuda")), 1 + torch.fft.fftfreq(3))


def _fills(x: torch.Tensor) -> torch.Tensor:
    return torch.zeros(3, device="cuda") + x


def _moves(x: torch.Tensor) -> torch.Tensor:
    return x.cuda()


def _asks(x: torch.Tensor) -> bool:
    return x.is_cuda or x.device == torch.device("cuda:0")


def _asks_through_another(x: torch.Tensor) -> bool:
    return _asks(x)


def _says(x: torch.Tensor) -> str:
    return x.device.type


def _takes(x: torch.Tensor, device: torch.device) -> torch.Tensor:
    return torch.ones(3, device=device) + x.to(device)


@in_mode("cuda")
def test_scripts_that_name_the_device() -> None:
    """A script that names CUDA is refused in words, with CPU tensors only if it gets there; a device may be given."""
    warnings.simplefilter("ignore")  # of torch.jit itself
    compile_it: Any = torch.jit.script
    x, here = torch.ones(3, device="cuda"), torch.ones(3)
    for function in (_fills, _moves, _asks, _asks_through_another):
        with raises(NotImplementedError, "TorchScript knows the simulated device under another name"):
            compile_it(function)(x)
    for function in (_fills, _moves):
        with raises(NotImplementedError, "call the function or module without torch.jit.script"):
            compile_it(function)(here)
    assert [compile_it(function)(here) for function in (_asks, _asks_through_another)] == [False, False]
    assert [compile_it(_says)(one) for one in (x, here)] == ["cuda", "cpu"]
    assert str(compile_it(_takes)(here, torch.device("cuda")).device) == "cuda:0"
    assert str(compile_it(_takes)(x, device=x.device).device) == "cuda:0"
    traced: Any = torch.jit.trace(lambda x: x + torch.ones(3, device="cuda"), x)
    assert traced(x).tolist() == [2, 2, 2]


class _First(nn.Module):
    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.layer(x)[0]
        return made


@pytest.mark.parametrize("kind", [nn.GRU, nn.LSTM, nn.RNN])
@in_mode("cuda")
def test_recurrent_layers_are_scripted(kind: Any) -> None:
    """A scripted recurrent layer returns on the device what the plain one returns."""
    warnings.simplefilter("ignore")  # of torch.jit itself
    compile_it: Any = torch.jit.script
    layer, x = _First(kind(3, 4)).cuda(), torch.randn(2, 5, 3, device="cuda")
    assert torch.allclose(compile_it(layer)(x), layer(x))


@in_mode("cuda")
def test_storages() -> None:
    """New storages, slices, typed ones and their copies lie on the device; none ends the process."""
    made = (torch.UntypedStorage(8, device="cuda"), torch.UntypedStorage(8, device="sim"))
    assert [(str(one.device), one.nbytes()) for one in made] == [("cuda:0", 8)] * 2
    storage = torch.arange(3.0, device="cuda").untyped_storage()
    part = storage[0:4]
    assert (str(part.device), part.nbytes(), part.data_ptr()) == ("cuda:0", 4, storage.data_ptr())
    assert (str(storage.new().device), storage.new().nbytes()) == ("cuda:0", 0)
    warnings.simplefilter("ignore", UserWarning)  # typed storages will go some day
    typed: Any = torch.arange(3.0, device="cuda").storage()
    for other in (copy.deepcopy(typed), typed.double(), torch.FloatStorage([0.0, 1.0, 2.0]).cuda()):
        assert (str(other.device), other.tolist()) == ("cuda:0", [0.0, 1.0, 2.0])
    assert torch.TypedStorage([1.0], dtype=torch.float32, device="cuda").tolist() == [1.0]
    assert str(torch.UntypedStorage(8).device) == "cpu"


@in_mode("cuda")
def test_what_cannot_be_done_is_refused() -> None:
    """`torch.export` of a module on the device raises; of one on the CPU it works."""
    module, x = nn.Linear(2, 2), torch.ones(1, 2)
    assert torch.equal(torch.export.export(module, (x,)).module()(x), module(x))
    with raises(NotImplementedError, "torch.export is not supported on the simulated device cuda"):
        torch.export.export(module.cuda(), (x.cuda(),))


@in_mode("cuda")
def test_optimizers_update_all_parameters_at_once() -> None:
    """As many launches for forty parameters as for four, and the numbers of the CPU."""

    def launches(layers: int) -> int:
        torch.manual_seed(0)
        here = nn.Sequential(*[nn.Linear(3, 3) for _ in range(layers)])
        there = copy.deepcopy(here).cuda()
        for module in (here, there):
            optimizer = torch.optim.AdamW(module.parameters(), lr=0.1)
            module(torch.ones(2, 3, device=next(module.parameters()).device)).square().sum().backward()
            optimizer.step()  # the first makes what it remembers of each parameter
            accelerator.reset_counters()
            optimizer.step()
        pairs = zip(here.parameters(), there.parameters(), strict=True)
        assert all(torch.allclose(mine, theirs.cpu()) for mine, theirs in pairs)
        return int(counted("launches")[0])

    assert launches(2) == launches(20)


def seconds_of(work: Any) -> float:
    """Virtual seconds until all devices are done."""
    torch.cuda.synchronize()
    accelerator.reset_counters()
    work()
    torch.cuda.synchronize(0)
    torch.cuda.synchronize(1)
    return float(counted("host_seconds")[0])


@in_mode("cuda")
def test_streams_share_the_device() -> None:
    """Sixteen products in sixteen streams take as long as in one."""
    a = torch.ones(512, 512, device="cuda")

    def products(streams: list[Any]) -> None:
        for stream in streams:
            with torch.cuda.stream(stream):
                a @ a

    one, many = [torch.cuda.Stream()] * 16, [torch.cuda.Stream() for _ in range(16)]
    assert seconds_of(lambda: products(many)) == pytest.approx(seconds_of(lambda: products(one)), rel=0.1)


@in_mode("cuda")
def test_copies_share_the_bus() -> None:
    """Two copies to the device at once take twice as long as one; one in each direction do not."""
    host = [torch.ones(4_000_000).pin_memory() for _ in range(2)]
    there = torch.ones(4_000_000, device="cuda")
    streams: list[Any] = [torch.cuda.Stream() for _ in range(2)]

    def copy(*ways: Any) -> None:
        for one, stream, way in zip(host, streams, ways, strict=False):
            with torch.cuda.stream(stream):
                one.to("cuda", non_blocking=True) if way == "up" else one.copy_(there, non_blocking=True)

    once = seconds_of(lambda: copy("up"))
    assert seconds_of(lambda: copy("up", "up")) == pytest.approx(2 * once, rel=0.1)
    assert seconds_of(lambda: copy("up", "down")) == pytest.approx(once, rel=0.1)


@in_mode("cuda")
def test_a_copy_between_devices_waits_for_its_source() -> None:
    """What is copied is made first, and the source's queue is not done before the copy is."""
    a = torch.ones(1024, 1024, device="cuda:0")
    product = seconds_of(lambda: a @ a)
    copied = seconds_of(lambda: a.to("cuda:1"))
    assert seconds_of(lambda: (a @ a).to("cuda:1")) == pytest.approx(product + copied, rel=0.1)


@in_mode("cuda")
def test_a_late_queue_leaves_room() -> None:
    """Work of a stream that waits for something else does not keep the device from the work of another."""
    a, big = torch.ones(512, 512, device="cuda"), torch.ones(10_000_000).pin_memory()
    first, second = torch.cuda.Stream(), torch.cuda.Stream()

    def copy_beside(products: int) -> None:
        with torch.cuda.stream(first):
            big.to("cuda", non_blocking=True)
            a @ a
        with torch.cuda.stream(second):
            for _ in range(products):
                a @ a

    assert seconds_of(lambda: copy_beside(8)) == pytest.approx(seconds_of(lambda: copy_beside(0)), rel=0.05)


@in_mode("cuda")
def test_an_encoder_and_what_is_padded() -> None:
    """`nn.TransformerEncoder` in eval with a padding mask gives what the CPU gives, zeros where it is padded."""
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2).eval()
    x, padded = torch.rand(2, 4, 8), torch.tensor([[False, False, False, True], [False] * 4])
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # nested tensors are a prototype, says the CPU
        wanted = encoder(x, src_key_padding_mask=padded)
        found = encoder.cuda()(x.cuda(), src_key_padding_mask=padded.cuda())
    assert not found[0, 3].any()
    assert torch.allclose(found.cpu(), wanted, atol=1e-6)
