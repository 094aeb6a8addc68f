"""What shares memory at one end shares it at the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from wire.pair import Pair, bits, linked, quietly

from grader.wire.call import copy_values
from grader.wire.frames import Unsupported
from grader.wire.memory import _Memory

SHARING: dict[str, Callable[[], tuple[Any, ...]]] = {
    "views of a tensor": lambda: (x := torch.arange(6.0), x[1:].view(5)[-1:]),
    "detached": lambda: (x := torch.arange(6.0), x.detach()),
    "tensor and its array": lambda: (x := torch.arange(6.0), x.numpy()),
    "tensor and a part of its array": lambda: (x := torch.arange(6.0), x.numpy()[::-1]),
    "array and its tensor": lambda: (a := np.arange(6.0), torch.from_numpy(a)),
    "a part of an array and the tensor of another": lambda: (a := np.arange(6.0), torch.from_numpy(a[::2])),
    "two tensors of one array": lambda: (a := np.arange(6.0), torch.from_numpy(a[2:]), torch.from_numpy(a))[1:],
    "array and its reversed view": lambda: (a := np.arange(6.0), a[::-1]),
    "parts of an array": lambda: (a := np.arange(6.0), a[:4], a[2:])[1:],
    "views of other dtypes": lambda: (a := np.arange(6.0), a.view(np.int8)),
    "buffers": lambda: (b := bytearray(8), np.frombuffer(b, np.uint8), np.frombuffer(b, np.uint8, 5, 2))[1:],
}


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


TENSOR, ARRAY = torch.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
VIEWS: list[tuple[Any, Callable[[Any], Any]]] = [
    *((TENSOR, lambda x: x[1:]), (TENSOR, lambda x: x.t()), (TENSOR, lambda x: x.detach())),
    *((TENSOR, lambda x: x.numpy()), (TENSOR, lambda x: x.numpy()[::-1])),
    (TENSOR, lambda x: torch.from_numpy(x.numpy()[1:])),
    *((ARRAY, lambda a: a[1:]), (ARRAY, lambda a: a.T), (ARRAY, lambda a: a[::-1])),
    *((ARRAY, torch.from_numpy), (ARRAY, lambda a: torch.from_numpy(a[1:]))),
]


@pytest.mark.parametrize(("given", "view"), VIEWS)
def test_a_view_of_an_argument_is_one_here(given: Any, view: Callable[[Any], Any]) -> None:
    """A view that the worker makes of a tensor or an array of ours is a view of it at the asking end."""
    x = copy_values(given)[0]
    result = Pair().call(view, x)
    assert bits(result) == bits(view(x))
    assert linked(x, result)
    assert linked(result, x)


def test_two_views_of_one_storage_have_one_storage() -> None:
    """Tensors on one storage in the worker are on one storage here: `untyped_storage().data_ptr()` agrees."""
    x, y = Pair().call(lambda: (x := torch.arange(6.0), x[2:]))
    assert x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
    assert x.untyped_storage().nbytes() == y.untyped_storage().nbytes() == 24


def test_memory_is_not_shared_between_calls() -> None:
    """A view that the worker stored is a copy of its own in later calls: nothing is shared behind a check's back."""
    pair, stored = Pair(), []
    x = torch.zeros(4)
    pair.call(quietly(lambda x: stored.append(x[1:])), x)
    pair.call(quietly(lambda: stored[0].add_(1)))
    assert x.tolist() == [0, 0, 0, 0]
    x.add_(5)
    assert pair.call(lambda: stored[0].tolist()) == [1, 1, 1]


def test_memory_that_reaches_beyond_an_argument() -> None:
    """A result on a larger memory than the argument's, of which that is a part, is refused and not torn apart."""
    whole = torch.zeros(8)
    parts: list[np.ndarray] = []

    def around(part: np.ndarray) -> np.ndarray:
        address, nbytes = part.__array_interface__["data"][0], 2 * part.nbytes
        parts.append(np.asarray(_Memory(address - nbytes // 2, nbytes, part)))
        return parts[0]

    with pytest.raises(Unsupported, match="extends beyond"):
        Pair().call(around, whole.numpy()[4:])


def test_copies_share_as_the_values_do() -> None:
    """A reference's copies share among themselves, and nothing with the values; what cannot be sent stays itself."""
    x, thing = torch.arange(4.0), object()
    one, other, box, same_thing = copy_values(x, x[1:], [x, x.numpy(), thing], thing)
    assert box[0] is one
    assert linked(one, other)
    assert linked(box[1], one)
    assert x.tolist() == [0, 1, 2, 3]
    assert box[2] is same_thing is thing
