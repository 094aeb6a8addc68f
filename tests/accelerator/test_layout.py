"""How tensors on the simulated device lie in memory: strides, views, changes in place, indices."""

from __future__ import annotations

import torch
from accelerator.modes import counted, in_mode
from torch import nn


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
def test_storages_move() -> None:
    """A storage goes to the device, from one index to another and back; each is one transfer."""
    host = torch.arange(3, dtype=torch.uint8).untyped_storage()
    there = host.to(device="sim:0")
    other = there.to(device="sim:1")
    assert [str(storage.device) for storage in (there, other, other.cpu())] == ["sim:0", "sim:1", "cpu"]
    assert other.tolist() == other.cpu().tolist() == [0, 1, 2]
    assert there.to(device="sim:0") is there
    assert counted("host_to_device", "device_to_device", "device_to_host") == (1, 1, 2)


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
    other = torch.empty(0, device="sim").set_(t)  # type: ignore[call-overload]
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
