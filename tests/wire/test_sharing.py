"""What shares memory at one end shares it at the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from wire.pair import Pair, bits, linked, quietly, same


def sharing_pairs() -> dict[str, Callable[[], tuple[Any, Any]]]:
    def array_views() -> tuple[Any, Any]:
        a = np.arange(6.0)
        return torch.from_numpy(a[2:]), torch.from_numpy(a)

    return {
        "views of a tensor": lambda: (x := torch.arange(6.0), x[1:].view(5)[-1:])[:2],
        "detached": lambda: (x := torch.arange(6.0), x.detach()),
        "tensor and its array": lambda: (x := torch.arange(6.0), x.numpy()),
        "tensor and a part of its array": lambda: (x := torch.arange(6.0), x.numpy()[::-1]),
        "array and its tensor": lambda: (a := np.arange(6.0), torch.from_numpy(a)),
        "a part of an array and the tensor of another": lambda: (a := np.arange(6.0), torch.from_numpy(a[::2])),
        "two tensors of one array": array_views,
        "array and its reversed view": lambda: (a := np.arange(6.0), a[::-1]),
        "parts of an array": lambda: (a := np.arange(6.0), a[:4], a[2:])[1:],
        "views of other dtypes": lambda: (a := np.arange(6.0), a.view(np.int8)),
        "buffers": lambda: (b := bytearray(8), np.frombuffer(b, np.uint8), np.frombuffer(b, np.uint8, 5, 2))[1:],
    }


SHARING = sharing_pairs()


@pytest.mark.parametrize("name", SHARING)
def test_arguments_share_memory_in_the_worker(name: str) -> None:
    """Arguments that share memory here share it there, whatever holds it, and a write there is seen in all of them."""
    one, other = SHARING[name]()
    assert Pair().call(linked, one, other)
    assert linked(one, other)
    pair = Pair()
    one, other = SHARING[name]()
    pair.call(quietly(lambda arg: arg.fill_(3) if isinstance(arg, torch.Tensor) else arg.fill(3)), one)
    assert linked(one, other)
    pair.call(lambda one, other: (one, other), one, other)
    assert linked(one, other)


@pytest.mark.parametrize("name", SHARING)
def test_results_share_memory_here(name: str) -> None:
    """Results that share memory in the worker share it at the asking end."""
    one, other = Pair().call(lambda: SHARING[name]())
    assert linked(one, other)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("name", SHARING)
def test_arguments_of_two_calls_share_memory(name: str, swapped: bool) -> None:
    """What was handed over in one call shares memory in the worker with what is handed over in the next."""
    one, other = SHARING[name]()[:: -1 if swapped else 1]
    pair, stored = Pair(), []
    pair.call(lambda one: stored.append(one), one)
    assert pair.call(lambda one, other: linked(one, other), one, other)
    assert linked(one, other)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[1:],
        lambda x: x.t(),
        lambda x: x.numpy(),
        lambda x: x.numpy()[::-1],
        lambda x: torch.from_numpy(x.numpy()[1:]),
        lambda x: x.detach(),
    ],
)
def test_a_view_of_a_tensor_argument_is_one_here(view: Callable[[torch.Tensor], Any]) -> None:
    """A view that the worker makes of a tensor of ours is a view of it at the asking end."""
    x = torch.arange(6.0).reshape(2, 3)
    result = Pair().call(view, x)
    assert same(result, view(x)) or isinstance(result, torch.Tensor)
    assert bits(result) == bits(view(x))
    assert linked(x, result)
    assert linked(result, x)


@pytest.mark.parametrize(
    "view", [lambda a: a[1:], lambda a: a.T, lambda a: a[::-1], torch.from_numpy, lambda a: torch.from_numpy(a[1:])]
)
def test_a_view_of_an_array_argument_is_one_here(view: Callable[[np.ndarray], Any]) -> None:
    """A view that the worker makes of an array of ours is a view of it at the asking end."""
    a = np.arange(6.0).reshape(2, 3)
    result = Pair().call(view, a)
    assert bits(result) == bits(view(a))
    assert linked(a, result)
    assert linked(result, a)


def test_two_views_of_one_storage_have_one_storage() -> None:
    """Tensors on one storage in the worker are on one storage here: `untyped_storage().data_ptr()` agrees."""
    x, y = Pair().call(lambda: (x := torch.arange(6.0), x[2:]))
    assert x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
    assert x.untyped_storage().nbytes() == y.untyped_storage().nbytes() == 24


def test_the_worker_sees_what_is_changed_between_calls() -> None:
    """A view that the worker stored sees what the asking end writes later, and so do fresh results of ours."""
    pair, stored = Pair(), []
    x, a = torch.zeros(4), np.zeros(4)

    def store(*args: Any) -> None:
        stored.extend([args[0][1:], args[1][::-1], args[0]])

    pair.call(store, x, a)
    x.add_(torch.arange(4.0))
    a[:] = [5, 6, 7, 8]
    told = pair.call(lambda: [stored[0].tolist(), stored[1].tolist(), stored[2]])
    assert told[:2] == [[1, 2, 3], [8, 7, 6, 5]]
    assert told[2] is x
    x.t_().unsqueeze_(0)
    assert pair.call(lambda: list(stored[2].shape)) == [1, 4]


def test_a_stored_alias_changes_what_is_not_an_argument_any_more() -> None:
    """What the worker does later to something it kept is seen at the asking end, too."""
    pair, stored = Pair(), []
    x = torch.zeros(4)
    pair.call(lambda x: stored.append(x[1:]), x)
    pair.call(quietly(lambda: stored[0].add_(1)))
    assert x.tolist() == [0, 1, 1, 1]
