"""Tensors on the simulated device: memory, views, errors, and what PyTorch answers without an operator."""

from __future__ import annotations

import copy
import io
import re
import threading
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from accelerator.modes import in_mode
from torch import nn

from grader import accelerator


def raises(error: type[BaseException], text: str) -> Any:
    """An error whose text holds this one."""
    return pytest.raises(error, match=re.escape(text))


# -- what tells of the device


@in_mode("sim")
def test_accelerator_is_named() -> None:
    """`torch.accelerator` names the device, which is there and has two indices; CUDA is not."""
    assert torch.accelerator.is_available()
    assert torch.accelerator.current_accelerator() == torch.device("sim")
    assert torch.accelerator.device_count() == 2
    assert torch.accelerator.current_device_index() == 0
    assert not torch.cuda.is_available()
    with raises(AssertionError, "Torch not compiled with CUDA enabled"):
        torch.ones(1).cuda()


@in_mode("sim", indices=3)
def test_index_counts() -> None:
    """Without an index the current one is meant; one that is not there raises."""
    assert str(torch.ones(1, device="sim").device) == "sim:0"
    torch.accelerator.set_device_index(2)
    assert str(torch.ones(1, device="sim").device) == "sim:2"
    assert str(torch.ones(1).to("sim").device) == "sim:2"
    assert str(torch.ones(1, device="sim:1").device) == "sim:1"
    assert torch.ones(1, device=1).get_device() == 1
    for make in (lambda: torch.ones(1, device="sim:3"), lambda: torch.ones(1).to("sim:3")):
        with raises(RuntimeError, "invalid device ordinal"):
            make()


@in_mode("sim")
def test_factories_take_the_device() -> None:
    """Functions that make tensors put them on the device that is asked for, with the numbers of the CPU."""
    makers = [
        lambda **kw: torch.zeros(2, 3, **kw),
        lambda **kw: torch.full((2,), 7, **kw),
        lambda **kw: torch.arange(5, **kw),
        lambda **kw: torch.linspace(0, 1, 5, **kw),
        lambda **kw: torch.eye(3, **kw),
        lambda **kw: torch.tensor([[1.0, 2.0], [3.0, 4.0]], **kw),
        lambda **kw: torch.tensor(5, **kw),
        lambda **kw: torch.as_tensor([1, 2], **kw),
        lambda **kw: torch.asarray(np.arange(3.0), **kw),
        lambda **kw: torch.tril_indices(3, 3, **kw),
        lambda **kw: torch.hann_window(4, **kw),
        lambda **kw: torch.fft.fftfreq(4, **kw),
        lambda **kw: torch.ones(2).new_full((2,), 3.0, **kw),
        lambda **kw: torch.ones(2).new_tensor([1, 2], **kw),
        lambda **kw: torch.zeros_like(torch.ones(2, dtype=torch.int16), **kw),
        lambda **kw: torch.scalar_tensor(2.5, **kw),
    ]
    for make in makers:
        made, wanted = make(device="sim:1"), make()
        assert str(made.device) == "sim:1"
        assert (made.dtype, made.tolist()) == (wanted.dtype, wanted.tolist())


@in_mode("sim")
def test_likes_stay_on_the_device() -> None:
    """Functions that take a tensor as their pattern stay on its device."""
    t = torch.ones(2, 3, device="sim:1", dtype=torch.float64)
    for made in (
        torch.zeros_like(t),
        torch.rand_like(t),
        t.new_zeros(2),
        t.new_tensor([1.0]),
        t.clone(),
        t.new_empty(0),
    ):
        assert (str(made.device), made.dtype) == ("sim:1", torch.float64)
    assert torch.empty_like(t, device="cpu").device.type == "cpu"
    assert torch.empty_like(t, device="sim:0").get_device() == 0
    assert t.to("meta").device.type == "meta"


@in_mode("sim")
def test_default_device() -> None:
    """`set_default_device` and `with torch.device(...)` take the device."""
    torch.set_default_device("sim:1")
    made = [torch.ones(2), torch.tensor([1]), nn.Linear(1, 1).weight, torch.arange(3)]
    assert [str(t.device) for t in made] == ["sim:1"] * 4
    assert str(torch.get_default_device()) == "sim:1"
    torch.set_default_device(None)
    with torch.device("sim"):
        assert str(torch.tensor(2.0).device) == "sim:0"
    assert torch.ones(1).device.type == "cpu"


@in_mode("sim")
def test_text_of_a_tensor() -> None:
    """A tensor is printed as on a GPU: device, dtype and the graph as for any other."""
    t = torch.arange(3.0, device="sim:1")
    texts = {
        "tensor([0., 1., 2.], device='sim:1')": t,
        "tensor([0., 1., 2.], device='sim:1', requires_grad=True)": t.clone().requires_grad_(),
        "tensor([0., 2., 4.], device='sim:1', grad_fn=<MulBackward0>)": t.clone().requires_grad_() * 2,
        "tensor([0, 1, 2], device='sim:1', dtype=torch.int32)": t.int(),
        "tensor([], device='sim:0', size=(0, 3))": torch.ones(0, 3, device="sim"),
        "tensor(1., device='sim:1')": t[1],
    }
    assert [repr(tensor) for tensor in texts.values()] == list(texts)
    assert repr(nn.Parameter(t)) == "Parameter containing:\ntensor([0., 1., 2.], device='sim:1', requires_grad=True)"
    assert f"{t[1]:.2f}" == "1.00"
    assert repr(torch.ones(2000, device="sim")) == "tensor([1., 1., 1.,  ..., 1., 1., 1.], device='sim:0')"
    assert repr(type(t)) == "<class 'torch.Tensor'>"


# -- memory


@in_mode("sim")
def test_views_have_true_strides_and_share() -> None:
    """Views have the strides and offsets of the CPU's, and writes go through to what they are views of."""
    base = torch.arange(12.0, device="sim").view(3, 4)
    views = [
        (base.T, (1, 4), 0),
        (base[1:, ::2], (4, 2), 4),
        (base[:, 1], (4,), 1),
        (base.unsqueeze(1).expand(3, 5, 4), (4, 0, 1), 0),
        (base.diagonal(), (5,), 0),
        (base.as_strided((2, 2), (1, 1), 3), (1, 1), 3),
    ]
    for view, strides, offset in views:
        assert (view.stride(), view.storage_offset()) == (strides, offset)
        assert view.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()
        assert view.data_ptr() == base.data_ptr() + 4 * offset
        assert view._base is not None
    views[2][0].fill_(-1)
    base[2, 2:] = 7
    assert base.tolist() == [[0, -1, 2, 3], [4, -1, 6, 7], [8, -1, 7, 7]]
    assert not base.T.is_contiguous()
    assert base.T.contiguous().untyped_storage().data_ptr() != base.untyped_storage().data_ptr()
    assert base.reshape(-1).data_ptr() == base.data_ptr()


@in_mode("sim")
def test_in_place_changes_of_shape() -> None:
    """Operators that change sizes or strides in place change them on the device, too."""
    t = torch.arange(6.0, device="sim").view(2, 3)
    assert t.t_() is t
    assert (t.shape, t.stride()) == ((3, 2), (1, 3))
    assert t.unsqueeze_(0).shape == (1, 3, 2)
    assert t.squeeze_().transpose_(0, 1).shape == (2, 3)
    assert t.resize_(4, 5).shape == (4, 5)
    assert t.flatten()[:6].tolist() == [0, 1, 2, 3, 4, 5]
    out = torch.empty(0, device="sim")
    assert torch.add(torch.ones(2, 2, device="sim"), 1, out=out) is out
    assert out.tolist() == [[2, 2], [2, 2]]
    other = torch.empty(0, device="sim").set_(t)
    other[0, 0] = 9
    assert t[0, 0].item() == 9


@in_mode("sim")
def test_data_of_parameters() -> None:
    """`p.data = ...` moves a parameter between devices and keeps the object; `p.data` shares its memory."""
    p = nn.Parameter(torch.ones(2))
    p.data = p.data.to("sim")
    assert (str(p.device), isinstance(p, nn.Parameter), p.requires_grad) == ("sim:0", True, True)
    p.data.mul_(3)
    p.data = p.data + 1
    assert p.tolist() == [4, 4]
    p.data = p.data.cpu()
    assert (p.device.type, type(p), p.tolist()) == ("cpu", nn.Parameter, [4, 4])


@in_mode("sim")
def test_indices() -> None:
    """Slices, lists, masks and tensors of indices, for reading and for writing; indices may be on the CPU."""
    t = torch.arange(6.0, device="sim").view(2, 3)
    wanted = torch.arange(6.0).view(2, 3)
    rows = torch.tensor([1, 0])
    assert t.to("sim:1")[[1]].tolist() == [[3, 4, 5]]
    for index in ([0, 1], ([1], [2]), rows, (slice(None), [True, False, True]), (..., None, -1), []):
        assert t[index].tolist() == wanted[index].tolist()
    assert t[rows.to("sim")].tolist() == wanted[rows].tolist()
    assert t[t > 2].tolist() == [3, 4, 5]
    t[[0], [1]] = 8
    t[t > 4] = torch.tensor(0.0)
    t[1] = torch.ones(3)
    assert t.tolist() == [[0, 0, 2], [1, 1, 1]]
    with raises(IndexError, "indices should be either on cpu or on the same device as the indexed tensor (cpu)"):
        wanted[rows.to("sim")]


@in_mode("sim")
def test_conjugates() -> None:
    """Conjugate and negative views are views, and operators see through them."""
    z = torch.tensor([1 + 2j, 3 - 1j], device="sim")
    conjugate = z.conj()
    assert conjugate.is_conj()
    assert conjugate.data_ptr() == z.data_ptr()
    assert (conjugate * 1).tolist() == [1 - 2j, 3 + 1j]
    assert conjugate.imag.is_neg()
    assert conjugate.imag.tolist() == [-2, 1]
    assert torch.view_as_real(conjugate.resolve_conj()).tolist() == [[1, -2], [3, 1]]
    a = torch.randn(4, 3, dtype=torch.complex64)
    assert torch.allclose(torch.linalg.pinv(a.to("sim")).cpu(), torch.linalg.pinv(a), atol=1e-5)


# -- errors


@in_mode("sim")
def test_two_devices_are_refused() -> None:
    """Operands on two devices raise PyTorch's errors: for pointwise operators one text, for others another."""
    a, b, c = torch.ones(2, 2, device="sim:0"), torch.ones(2, 2, device="sim:1"), torch.ones(2, 2)
    found = "Expected all tensors to be on the same device, but found at least two devices, "
    got = "Expected all tensors to be on the same device, but got "
    for make, text in [
        (lambda: a + b, f"{found}sim:0 and sim:1!"),
        (lambda: c + a, f"{found}sim:0 and cpu!"),
        (lambda: c.add_(a[0, 0]), f"{found}sim:0 and cpu!"),
        (lambda: torch.add(a, 1, out=c), f"{found}sim:0 and cpu!"),
        (lambda: a.mul_(c), f"{found}sim:0 and cpu!"),
        (
            lambda: a @ c,
            f"{got}mat2 is on cpu, different from other tensors on sim:0 (when checking argument in method",
        ),
        (lambda: torch.cat([c, a]), f"{got}tensors is on sim:0, different from other tensors on cpu"),
        (lambda: nn.functional.linear(a, c, c[0]), f"{got}mat1 is on sim:0, different from other tensors on cpu"),
        (lambda: nn.Linear(2, 2)(a), f"{got}mat1 is on sim:0, different from other tensors on cpu"),
        (lambda: torch.gather(a, 0, c.long()), f"{got}index is on cpu, different from other tensors on sim:0"),
    ]:
        with raises(RuntimeError, text):
            make()


@in_mode("sim")
def test_zero_dim_cpu_tensors() -> None:
    """One 0-dim CPU tensor may join pointwise operators, wherever it stands; one of another index may not."""
    a = torch.ones(2, device="sim")
    x = torch.tensor(2.0)
    assert [(a * x).tolist(), (x - a).tolist(), torch.where(a > 0, x, x).tolist(), a.clamp(min=x).tolist()] == [
        [2, 2],
        [1, 1],
        [2, 2],
        [2, 2],
    ]
    assert a.masked_fill(a > 0, x).tolist() == [2, 2]
    assert (a.int() * torch.tensor(2.5)).dtype == torch.float32
    with raises(RuntimeError, "found at least two devices, sim:0 and sim:1!"):
        a * torch.tensor(2.0, device="sim:1")
    with raises(RuntimeError, "found at least two devices"):
        torch.addcmul(a, x, x)


@in_mode("sim")
def test_numpy_refuses() -> None:
    """NumPy gets no memory of the device, by any way; `force=True` copies."""
    t = torch.ones(2, device="sim", requires_grad=True)
    for make in (t.numpy, lambda: np.asarray(t.detach()), lambda: np.add(t.detach(), 1)):
        with raises(TypeError, "can't convert sim:0 device type tensor to numpy. Use Tensor.cpu() to copy"):
            make()
    with pytest.raises(BufferError):
        np.from_dlpack(t.detach())
    assert t.numpy(force=True).tolist() == [1, 1]


@in_mode("sim")
def test_unsupported_is_said() -> None:
    """What is not supported raises `NotImplementedError` and names it."""
    t = torch.ones(2, 2, device="sim")
    warnings.simplefilter("ignore")
    for make, text in [
        (t.to_sparse, "The operator 'aten::_to_sparse' is not supported on the simulated device"),
        (lambda: torch.eye(2).to_sparse().to("sim"), "aten::_sparse_coo_tensor_with_dims"),
        (lambda: torch.nested.nested_tensor([t[0]], device="sim"), "nested tensors are not supported"),
        (lambda: torch.quantize_per_tensor(t, 0.1, 0, torch.quint8), "'aten::quantize_per_tensor' is not supported"),
        (lambda: torch.autocast("sim"), "autocast is not supported on the simulated device sim"),
        (lambda: nn.LazyLinear(2).to("sim"), "lazy modules are not supported"),
    ]:
        with pytest.raises(NotImplementedError, match=re.escape(text)):
            make()


# -- to Python, copies, files


@in_mode("sim")
def test_to_python() -> None:
    """`item`, `tolist`, `bool`, iteration and `in` give Python's values."""
    t = torch.tensor([[1, 2], [3, 4]], device="sim")
    assert (t[1, 0].item(), t.tolist(), bool(t[0, 0]), float(t[0, 1]), len(t), 4 in t) == (
        3,
        [[1, 2], [3, 4]],
        True,
        2.0,
        2,
        True,
    )
    assert [row.tolist() for row in t] == [[1, 2], [3, 4]]
    assert range(9)[t[0, 0]] == 1
    assert torch.equal(t, t.clone())
    assert not torch.allclose(t.float(), t.float() + 1)


@in_mode("sim")
def test_copies_of_objects() -> None:
    """`deepcopy` copies once what is shared; `copy.copy` and pickles work."""
    t = torch.arange(4.0, device="sim:1")
    one, view = copy.deepcopy([t, t[2:]])
    view[0] = 9
    assert (one.tolist(), t.tolist(), str(one.device)) == ([0, 1, 9, 3], [0, 1, 2, 3], "sim:1")
    shallow = copy.copy(t)
    shallow[0] = 5
    assert t[0].item() == 5
    model = copy.deepcopy(nn.Linear(2, 1).to("sim"))
    assert str(model.weight.device) == "sim:0"
    assert isinstance(model.weight, nn.Parameter)
    with raises(RuntimeError, "Only Tensors created explicitly by the user"):
        copy.deepcopy(model.weight * 2)


@in_mode("sim")
def test_save_and_load() -> None:
    """Files keep the device, what is shared and parameters; `map_location` moves; a missing index is told."""
    t = torch.arange(4.0, device="sim:1")
    file = io.BytesIO()
    torch.save({"t": t, "view": t[2:], "p": nn.Parameter(t.clone()), "z": (t * 1j).conj()}, file)

    def load(**options: Any) -> Any:
        file.seek(0)
        return torch.load(file, **options)

    loaded = load()
    loaded["t"][2] = 7
    assert (str(loaded["t"].device), loaded["view"].tolist()) == ("sim:1", [7, 3])
    assert isinstance(loaded["p"], nn.Parameter)
    assert loaded["z"].tolist() == [0, -1j, -2j, -3j]
    assert load(map_location="cpu")["t"].device.type == "cpu"
    assert str(load(map_location="sim:0")["t"].device) == "sim:0"
    assert str(load(map_location=torch.device("sim"))["t"].device) == "sim:0"
    assert str(load(map_location={"sim:1": "sim:0"})["t"].device) == "sim:0"
    assert load(map_location=lambda storage, location: storage)["t"].device.type == "cpu"
    with raises(RuntimeError, "Attempting to deserialize object on SIM device 5 but torch.sim.device_count() is 2"):
        load(map_location="sim:5")


@in_mode("sim")
def test_pinned_memory() -> None:
    """CPU tensors can be pinned, once; tensors of the device cannot."""
    t = torch.ones(2)
    pinned = t.pin_memory()
    assert (t.is_pinned(), pinned.is_pinned(), pinned.pin_memory() is pinned) == (False, True, True)
    assert pinned[1:].is_pinned()
    assert torch.zeros(2, pin_memory=True).is_pinned()
    with raises(RuntimeError, "cannot pin 'torch.sim.FloatTensor' only dense CPU tensors can be pinned"):
        t.to("sim").pin_memory()
    batches = list(torch.utils.data.DataLoader(torch.arange(4.0), batch_size=2, pin_memory=True))
    assert all(batch.is_pinned() for batch in batches)


# -- random numbers


@in_mode("sim")
def test_seeds() -> None:
    """`torch.manual_seed` seeds every index; the numbers are not those of the CPU."""
    drawn = {}
    for device in ("cpu", "sim:0", "sim:1"):
        torch.manual_seed(3)
        drawn[device] = torch.rand(4, device=device).tolist()
    assert drawn["sim:0"] == drawn["sim:1"]
    assert drawn["sim:0"] != drawn["cpu"]
    torch.manual_seed(3)
    before = torch.get_rng_state()
    nn.functional.dropout(torch.ones(8, device="sim"))
    assert torch.equal(before, torch.get_rng_state())


@in_mode("sim")
def test_generators() -> None:
    """A generator belongs to a device; one of another device is refused both ways."""
    ours, theirs = torch.Generator(device="sim:1").manual_seed(5), torch.Generator()
    assert (str(ours.device), ours.initial_seed(), theirs.device.type) == ("sim:1", 5, "cpu")
    first = torch.randn(3, device="sim:1", generator=ours)
    assert first.tolist() == torch.randn(3, device="sim:1", generator=ours.manual_seed(5)).tolist()
    state = ours.get_state()
    again = [torch.rand(2, device="sim:1", generator=ours).tolist(), ours.set_state(state)][0]
    assert torch.rand(2, device="sim:1", generator=ours).tolist() == again
    assert isinstance(ours, torch.Generator)
    assert isinstance(theirs, torch.Generator)
    with raises(RuntimeError, "Expected a 'sim' device type for generator but found 'cpu'"):
        torch.rand(2, device="sim", generator=theirs)
    with raises(RuntimeError, "Expected a 'cpu' device type for generator but found 'sim'"):
        torch.rand(2, generator=ours)
    with raises(RuntimeError, "Expected a 'cpu' device type for generator but found 'sim'"):
        torch.ones(2).uniform_(generator=ours)


# -- autograd and modules


@in_mode("sim")
def test_gradients_on_every_index() -> None:
    """Gradients are on their leaf's device, also across devices and in a thread."""
    leaf = torch.ones(3, device="sim:1", requires_grad=True)
    (leaf * 2 + leaf.to("sim:0").to("sim:1") * leaf.cpu().to("sim:1")).sum().backward()
    assert (leaf.grad.tolist(), str(leaf.grad.device)) == ([4, 4, 4], "sim:1")
    host = torch.ones(2, requires_grad=True)
    (host.to("sim") * 5).sum().backward()
    assert (host.grad.tolist(), host.grad.device.type) == ([5, 5], "cpu")

    def work() -> None:
        leaf.grad = None
        (leaf * 3).sum().backward()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert leaf.grad.tolist() == [3, 3, 3]
    assert torch.autograd.gradcheck(torch.tanh, torch.randn(3, device="sim", dtype=torch.float64, requires_grad=True))


def _train(device: str) -> list[float]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 16, 3))
    x, y = torch.randn(8, 1, 6, 6), torch.arange(8) % 3
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    weight = model[0].weight
    model.to(device)
    assert weight is model[0].weight
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


@in_mode("sim")
def test_training_is_that_of_the_cpu() -> None:
    """A model is trained on the device as on the CPU; an optimizer made before the move still has its parameters."""
    assert _train("sim:1") == pytest.approx(_train("cpu"), rel=1e-5)


@in_mode("sim")
def test_recurrent_layers() -> None:
    """LSTM and GRU, whose cells are fused on accelerators, give what the CPU gives, backward included."""
    for layer in (nn.LSTM, nn.GRU, nn.RNN):
        torch.manual_seed(0)
        model, x = layer(3, 4, num_layers=2, bidirectional=True), torch.rand(5, 2, 3)
        wanted = model(x)[0]
        wanted.pow(2).sum().backward()
        grads = [p.grad.clone() for p in model.parameters()]
        model.zero_grad()
        out = model.to("sim")(x.to("sim"))[0]
        out.pow(2).sum().backward()
        assert torch.allclose(out.cpu(), wanted, atol=1e-6)
        assert all(torch.allclose(p.grad.cpu(), g, atol=1e-5) for p, g in zip(model.parameters(), grads, strict=True))


@in_mode("sim")
def test_model_goes_and_comes_back() -> None:
    """A model moves to the device and back, even while a graph holds it; state dicts load across devices."""
    model = nn.Linear(2, 2)
    weight = model.weight
    loss = model.to("sim")(torch.ones(1, 2, device="sim")).sum()
    loss.backward()
    assert str(weight.grad.device) == "sim:0"
    model.cpu()
    assert (model.weight is weight, weight.device.type, weight.grad.device.type) == (True, "cpu", "cpu")
    other = nn.Linear(2, 2).to("sim:1")
    other.load_state_dict(model.state_dict())
    assert torch.equal(other.weight.cpu(), weight)
    assert model.sim(1) is model
    assert str(next(model.parameters()).device) == "sim:1"


@in_mode("sim")
def test_functional_transforms() -> None:
    """`vmap`, `torch.func.grad`, forward gradients, checkpoints and inference mode work."""
    x = torch.arange(3.0, device="sim")
    assert torch.vmap(lambda v: v * 2)(x).tolist() == [0, 2, 4]
    assert torch.func.grad(lambda v: (v**2).sum())(x).tolist() == [0, 2, 4]
    warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch's own use of TorchScript
    value, tangent = torch.func.jvp(lambda v: v**2, (x,), (torch.ones_like(x),))
    assert (value.tolist(), tangent.tolist()) == ([0, 1, 4], [0, 2, 4])
    with torch.inference_mode():
        assert torch.nn.functional.linear(x, x[None]).tolist() == [5]
        assert x.reshape(3, 1).data_ptr() == x.data_ptr()
        assert x.to("cpu").tolist() == [0, 1, 2]


@in_mode("sim")
def test_type_of_a_tensor() -> None:
    """A tensor of ours is known by its exact type, which code of a student can neither derive from nor mistake."""
    t = torch.ones(1, device="sim")
    assert accelerator.is_simulated(t)
    assert not accelerator.is_simulated(torch.ones(1))
    assert isinstance(t, torch.Tensor)
    assert type(t)([1.0, 2.0]).tolist() == [1, 2]
    with pytest.raises(NotImplementedError):
        type("Mine", (type(t),), {})
