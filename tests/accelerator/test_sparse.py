"""Sparse tensors on the device."""

from __future__ import annotations

import copy
import io
import warnings
from typing import Any

import pytest
import torch
from accelerator.modes import counted, grad_of, in_mode, raises
from torch import nn

from grader import accelerator

DENSE = torch.tensor([[0.0, 1.0], [2.0, 0.0]])
X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
LAYOUTS = {"coo": torch.sparse_coo, "csr": torch.sparse_csr}


@pytest.mark.parametrize("name", LAYOUTS)
@in_mode("cuda")
def test_products_and_gradients(name: str) -> None:
    """A sparse matrix that moved there gives the products and gradients of the CPU, in all spellings."""
    warnings.simplefilter("ignore", UserWarning)  # they are in beta, on the CPU, too
    here = DENSE.to_sparse(layout=LAYOUTS[name])
    there = here.to("cuda")
    assert (there.layout, str(there.device), there.is_cuda, there._nnz()) == (LAYOUTS[name], "cuda:0", True, 2)
    wanted = DENSE @ X
    x = X.cuda().requires_grad_()
    for product in (torch.sparse.mm(there, x), there @ x, torch.spmm(there, x)):
        assert torch.equal(product.cpu(), wanted)
        x.grad = None
        product.square().sum().backward()
        assert torch.equal(grad_of(x).cpu(), DENSE.T @ (2 * wanted))
    weight = there.detach().clone().requires_grad_()
    torch.sparse.mm(weight, X.cuda()).sum().backward()
    assert grad_of(weight).to_dense().tolist() == [[0, 15], [6, 0]]
    for same in (there.cpu(), there * 2 * 0.5, copy.deepcopy(there), there.t().t()):
        assert torch.equal(same.to_dense().cpu(), DENSE)
    file = io.BytesIO()
    torch.save(there, file)
    file.seek(0)
    found = torch.load(file)
    assert (found.layout, str(found.device)) == (LAYOUTS[name], "cuda:0")
    assert "device='cuda:0', size=(2, 2), nnz=2" in repr(there)
    with raises(RuntimeError, "Expected all tensors to be on the same device"):
        torch.sparse.mm(there, X)


@in_mode("cuda")
def test_what_makes_them() -> None:
    """Factories, conversions, sums of doubled places, and gradients of embeddings."""
    warnings.simplefilter("ignore", UserWarning)  # they are in beta, on the CPU, too
    places, values = torch.tensor([[0, 1, 1], [1, 0, 0]]), torch.tensor([3.0, 4.0, 5.0])
    twice = torch.sparse_coo_tensor(places, values, (2, 2), device="cuda")
    whole = twice.coalesce()
    assert (whole.values().tolist(), whole.indices().tolist(), whole.is_cuda) == ([3, 9], [[0, 1], [1, 0]], True)
    with raises(RuntimeError, "Cannot get indices on an uncoalesced tensor, please call .coalesce() first"):
        twice.indices()
    rows = torch.tensor([0, 1, 2]).cuda()
    made: list[Any] = [
        torch.sparse_csr_tensor([0, 1, 2], [1, 0], [1.0, 2.0], device="cuda"),
        torch.sparse_csr_tensor(rows, torch.tensor([1, 0]).cuda(), torch.tensor([1.0, 2.0]).cuda()),
        torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], device="cuda"),  # type: ignore[arg-type]
        DENSE.cuda().to_sparse(),
        DENSE.cuda().to_sparse_csr(),
    ]
    assert all(one.is_cuda and torch.equal(one.to_dense().cpu(), DENSE) for one in made)
    weights = torch.tensor([3.0, 4.0, 5.0], device="cuda", requires_grad=True)
    torch.sparse.mm(torch.sparse_coo_tensor(places.cuda(), weights, (2, 2)), X.cuda()).sum().backward()
    assert grad_of(weights).tolist() == [15, 6, 6]
    table = nn.Embedding(5, 2, sparse=True).cuda()
    before = table.weight.detach().cpu().clone()
    table(torch.tensor([1, 2]).cuda()).sum().backward()
    torch.optim.SparseAdam(table.parameters()).step()
    assert (table.weight.cpu() != before).any(1).tolist() == [False, True, True, False, False]
    assert grad_of(table.weight).layout is torch.sparse_coo
    assert torch.zeros(2, 2, layout=torch.sparse_coo, device="cuda")._nnz() == 0


@in_mode("cuda")
def test_parts_on_two_devices() -> None:
    """A compressed tensor's indices and values are on one device, unless the call names it; lists go to the values."""
    warnings.simplefilter("ignore", UserWarning)  # they are in beta, on the CPU, too
    rows, columns, values = torch.tensor([0, 1]), torch.tensor([0]), torch.ones(1)
    with raises(RuntimeError, "Values and crow_indices need to be on the same device."):
        torch.sparse_csr_tensor(rows, columns, values.cuda(), (1, 1))
    with raises(RuntimeError, "Values and row_indices need to be on the same device."):
        torch.sparse_csc_tensor(rows.cuda(), columns, values.cuda(), (1, 1))
    with raises(RuntimeError, "Values and ccol_indices need to be on the same device."):
        torch.sparse_compressed_tensor(rows, columns, values.cuda(), (1, 1), layout=torch.sparse_csc)
    for device in ("cpu", "cuda:1"):
        made = torch.sparse_csr_tensor(rows.cuda(), columns, values, (1, 1), device=device)
        assert (str(made.device), made.to_dense().tolist()) == (device, [[1]])
    made = torch.sparse_csr_tensor([0, 1], [0], values.cuda(), (1, 1))
    assert {str(part.device) for part in (made.crow_indices(), made.col_indices(), made.values())} == {"cuda:0"}


@in_mode("cuda")
def test_a_dense_gradient_of_a_compressed_leaf() -> None:
    """It is kept as on the CPU, where the engine sees that the leaf has no strides."""
    warnings.simplefilter("ignore", UserWarning)  # they are in beta, on the CPU, too
    leaf = DENSE.cuda().to_sparse_csr().requires_grad_()
    (leaf @ X.cuda()).sum().backward()
    assert grad_of(leaf).layout is torch.strided
    assert grad_of(leaf).tolist() == [[6, 15], [6, 15]]
    with raises(NotImplementedError, "The operator 'aten::_spsolve' is not supported on the simulated device"):
        torch.sparse.spsolve(DENSE.cuda().to_sparse_csr(), torch.ones(2, device="cuda"))


@in_mode("cuda")
def test_what_they_cost() -> None:
    """To move one moves its places and its numbers; they take the device's memory as long as it lives."""
    here = torch.eye(1000).to_sparse()
    accelerator.reset_counters()
    there = here.cuda()
    assert counted("host_to_device", "host_to_device_bytes", "current_bytes") == (2, 20_000, [16_384 + 4_096, 0])
    del there
    assert counted("current_bytes") == ([0, 0],)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("edges", here)

    assert Model().cuda().edges.is_cuda
