"""Round trips of values between two exchanges, as a check and its worker make them."""

from __future__ import annotations

import collections
import contextlib
import gc
import math
import struct
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wire.pair import Handle, Pair, travel

from grader.wire.describe import DTYPES
from grader.wire.exchange import Exchange, claims_of
from grader.wire.frames import Caps, ProtocolFault, Unsupported
from grader.wire.incoming import Incoming, copies
from grader.wire.outgoing import Outgoing

EXAMPLES = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def there_and_back(value: Any) -> tuple[Any, Any]:
    """A value as the worker sees it, and as it comes back as a new object of the worker's."""
    seen = []

    def answer(arg: Any) -> Any:
        seen.append(arg)
        return copies(arg)[0]

    returned = Pair().call(answer, value)
    return seen[0], returned


def quietly(function: Callable[..., Any]) -> Callable[..., None]:
    """A function that returns nothing, so that the worker only changes its arguments."""

    def run(*args: Any) -> None:
        function(*args)

    return run


def bits(obj: Any) -> bytes:
    """The elements of a tensor or array in order, as bytes."""
    if isinstance(obj, np.ndarray):
        return obj.tobytes()
    plain = obj.detach().resolve_conj().resolve_neg().reshape(-1).clone(memory_format=torch.contiguous_format)
    return plain.view(torch.uint8).numpy().tobytes() if plain.numel() else b""


def raw(obj: Any) -> bytes:
    return struct.pack("<d", obj)


def same(one: Any, other: Any) -> bool:
    """Whether two values agree in type, geometry and every bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return (
            (one.dtype, one.shape, one.stride(), one.storage_offset(), one.is_conj(), one.is_neg())
            == (other.dtype, other.shape, other.stride(), other.storage_offset(), other.is_conj(), other.is_neg())
            and one.untyped_storage().nbytes() == other.untyped_storage().nbytes()
            and bits(one) == bits(other)
        )
    if isinstance(one, np.ndarray):
        return (
            (one.dtype.str, one.shape, one.flags.writeable) == (other.dtype.str, other.shape, other.flags.writeable)
            and (one.strides == other.strides or not one.size)
            and bits(one) == bits(other)
        )
    if isinstance(one, float):
        return raw(one) == raw(other) or (math.isnan(one) and math.isnan(other))
    if isinstance(one, complex):
        return same(one.real, other.real) and same(one.imag, other.imag)
    if isinstance(one, np.generic):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, slice):
        return same([one.start, one.stop, one.step], [other.start, other.stop, other.step])
    if isinstance(one, dict):
        return same(list(one.keys()), list(other.keys())) and same(list(one.values()), list(other.values()))
    return bool(one == other)


# ---------------------------------------------------------------------------------------------------- plain values

INTS = st.one_of(
    st.integers(-1000, 1000),
    st.integers(-(1 << 70), 1 << 70),
    st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**400, -(10**4000)]),
)
FLOATS = st.floats() | st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324])
TEXTS = st.text(st.characters(), max_size=20) | st.text(st.characters(categories=["Cs", "Lu"]), max_size=6)
_CODES = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "g", "G")
SCALARS = st.sampled_from(list(_CODES)).flatmap(
    lambda code: st.binary(min_size=np.dtype(code).itemsize, max_size=np.dtype(code).itemsize).map(
        lambda data: np.frombuffer(bytes(map(bool, data)) if code == "?" else data, code)[0]
    )
)
HASHABLE = st.one_of(
    st.none(),
    st.booleans(),
    INTS,
    TEXTS,
    st.binary(max_size=20),
    st.just(...),
    st.sampled_from(list(DTYPES.values())),
    st.sampled_from([torch.device("cpu"), torch.device("cuda", 1), torch.device("meta")]),
    st.lists(st.integers(0, 2**62), max_size=4).map(torch.Size),
    st.sampled_from([np.dtype(code) for code in ("f4", ">i8", "?", "c16", "u2")]),
    st.sampled_from([torch.strided, torch.channels_last, torch.contiguous_format, torch.preserve_format]),
    st.builds(range, st.integers(), st.integers(), st.integers(1, 2**70)),
)
PLAIN = st.one_of(HASHABLE, FLOATS, st.complex_numbers(), SCALARS)
NESTED = st.recursive(
    PLAIN | st.builds(slice, INTS | st.none(), INTS | st.none(), INTS | st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(HASHABLE | FLOATS, inner, max_size=4),
        st.sets(HASHABLE, max_size=4),
        st.frozensets(HASHABLE, max_size=4),
    ),
    max_leaves=12,
)


@given(NESTED)
@settings(EXAMPLES, max_examples=250)
def test_plain_values_survive(value: Any) -> None:
    """Every plain value arrives as it was, and comes back as it was."""
    for arrived in there_and_back(value):
        assert same(value, arrived)


@pytest.mark.parametrize(
    "value",
    [
        "\ud83d\ude00",
        "\ude00\ud83d",
        "\ud800",
        "\U0001f600",
        "a\x00b",
        range(10**50),
        range(0, 10**5000, 7),
        slice(np.int64(3), 2**80, None),
        [slice(1, 2), slice(1, 2)],
        np.float64("nan"),
        np.longdouble("1.5"),
        [True, 1, 1.0],
        {1: "int", 1.5: "float", None: "none"},
        {frozenset({1, (2, 3)}), frozenset()},
        (),
        [],
        {},
        set(),
        torch.Size([]),
        torch.Size([0, 2**62]),
        1j * math.inf,
        complex(-0.0, math.nan),
    ],
    ids=lambda value: type(value).__name__,
)
def test_plain_values_at_the_edges_survive(value: Any) -> None:
    """Plain values that JSON, or a careless encoding, would change arrive as they were."""
    for arrived in there_and_back(value):
        assert same(value, arrived)


def test_subclasses_of_plain_values_arrive_as_plain_values() -> None:
    """An instance of a subclass of a plain type arrives as that type: the subclass may be unknown at the other end."""
    text = type("Text", (str,), {})("abc")
    counts = collections.Counter("aab")
    point = collections.namedtuple("point", "x y")(1, 2)
    seen, _ = there_and_back([text, counts, point, np.str_("abc"), bytearray(b"ab")])
    assert seen == ["abc", {"a": 2, "b": 1}, (1, 2), "abc", b"ab"]
    assert [type(item) for item in seen] == [str, dict, tuple, str, bytes]


# --------------------------------------------------------------------------------------------- tensors and arrays


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """Tensors of every dtype and of every kind of geometry."""
    dtype = draw(st.sampled_from(list(DTYPES.values())))
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    size = rows * columns * dtype.itemsize
    data = bytearray(draw(st.binary(min_size=size, max_size=size)))
    if dtype is torch.bool:
        data = bytearray(map(bool, data))
    base = torch.empty(rows * columns, dtype=dtype)
    if data:
        base.view(torch.uint8).copy_(torch.frombuffer(data, dtype=torch.uint8))
    base = base.reshape(rows, columns)
    shapes: list[Callable[[], torch.Tensor]] = [
        lambda: base,
        lambda: base.t(),
        lambda: base[1:, ::2],
        lambda: base[:, :0],
        lambda: base.reshape(-1)[0] if base.numel() else base.reshape(-1),
        lambda: base.unsqueeze(1).expand(-1, 3, -1),
        lambda: base.reshape(-1)[-1:].expand(2, 5) if base.numel() else base,
        lambda: base.reshape(-1).as_strided((2, 2), (1, 1)) if base.numel() > 2 else base,
        lambda: torch._conj(base) if dtype.is_complex else base,
        lambda: torch._neg_view(base.t()) if dtype.is_complex or dtype is torch.float32 else base,
        lambda: torch._conj(torch._neg_view(base)) if dtype in (torch.complex64, torch.complex128) else base,
        lambda: torch._conj(base).imag if dtype in (torch.complex64, torch.complex128) else base,
    ]
    return draw(st.sampled_from(shapes))()


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    """Arrays of every dtype and of every kind of geometry, some of them read-only."""
    codes = [
        "?",
        "i1",
        "u1",
        "<i2",
        ">i2",
        "<u2",
        "<i4",
        ">u4",
        "<i8",
        ">u8",
        "<f2",
        ">f2",
        "<f4",
        ">f4",
        "<f8",
        ">f8",
        "<c8",
        ">c8",
        "<c16",
        "g",
        "G",
    ]
    dtype = np.dtype(draw(st.sampled_from(codes)))
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    size = rows * columns * dtype.itemsize
    data = draw(st.binary(min_size=size, max_size=size))
    base = np.frombuffer(bytes(map(bool, data)) if dtype.kind == "b" else data, dtype).reshape(rows, columns).copy()
    flat = base.reshape(-1)
    shapes: list[Callable[[], np.ndarray]] = [
        lambda: base,
        lambda: base.T,
        lambda: np.asfortranarray(base),
        lambda: base[::-1, ::-2],
        lambda: flat[::-1],
        lambda: base[1:, ::2],
        lambda: base[:0],
        lambda: np.array(flat[0]) if flat.size else flat,
        lambda: np.broadcast_to(base, (2, *base.shape)),
        lambda: np.lib.stride_tricks.as_strided(flat[-1:], (3, 2), (0, 0)) if flat.size else flat,
        lambda: np.lib.stride_tricks.sliding_window_view(flat, 2) if flat.size > 1 else flat,
        lambda: np.frombuffer(b"x" + base.tobytes() + b"yz", np.uint8)[1 : 1 + base.nbytes].view(dtype),
    ]
    array = draw(st.sampled_from(shapes))()
    if draw(st.booleans()):
        array = array[...]
        array.flags.writeable = False
    return array


@given(tensors())
@settings(EXAMPLES, max_examples=250)
def test_tensors_survive(tensor: torch.Tensor) -> None:
    """A tensor arrives with its dtype, shape, strides, offset, lazy flags, storage size and bits, and comes back so."""
    for arrived in there_and_back(tensor):
        assert same(tensor, arrived)


@given(arrays())
@settings(EXAMPLES, max_examples=250)
def test_arrays_survive(array: np.ndarray) -> None:
    """An array arrives with its dtype, byte order, shape, strides, read-only flag and bits, and comes back so."""
    for arrived in there_and_back(array):
        assert same(array, arrived)


@given(st.lists(tensors() | arrays() | PLAIN, max_size=4), st.data())
@settings(EXAMPLES)
def test_identity_survives(values: list[Any], data: st.DataObject) -> None:
    """The same tensor, array or container at several places is one object at the other end, and the same on return."""
    picks = data.draw(st.lists(st.integers(0, max(0, len(values) - 1)), max_size=6)) if values else []
    inner = [values[pick] for pick in picks]
    value = {"one": inner, "two": (inner, inner, *inner), "all": values}
    seen = []

    def echo(arg: Any) -> Any:
        seen.append(arg)
        return [arg, arg["one"], *arg["all"]]

    back = Pair().call(echo, value)
    arrived = seen[0]
    assert arrived["one"] is arrived["two"][0] is arrived["two"][1]
    for place, pick in enumerate(picks):
        if isinstance(values[pick], (torch.Tensor, np.ndarray)):
            assert arrived["one"][place] is arrived["two"][2 + place] is arrived["all"][pick]
    assert back[0] is value
    assert back[1] is inner
    for value_back, ours in zip(back[2:], values, strict=True):
        assert same(value_back, ours)
        if isinstance(ours, (torch.Tensor, np.ndarray)):
            assert value_back is ours


def test_an_object_of_the_worker_comes_back_as_the_object_that_stood_for_it() -> None:
    """What the worker returned is, handed to it again, its own object; and ours when returned again."""
    pair = Pair()
    theirs = [torch.arange(3), np.arange(3), lambda: 1]
    ours = pair.call(lambda: list(theirs))
    again = pair.call(lambda *args: [arg is own for arg, own in zip(args, theirs, strict=True)] + theirs, *ours)
    assert again[:3] == [True, True, True]
    assert all(one is other for one, other in zip(again[3:], ours, strict=True))


# ---------------------------------------------------------------------------------------- what the worker changes


def test_tensors_change_here_as_there() -> None:
    """In-place changes of an argument's elements, shape, storage and size are seen at the asking end."""
    pair = Pair()
    x = torch.arange(6.0).reshape(2, 3)
    address = x.data_ptr()
    pair.call(lambda x: x.add_(1), x)
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert x.data_ptr() == address
    pair.call(lambda x: x.t_(), x)
    assert (x.shape, x.stride(), x.data_ptr()) == ((3, 2), (1, 3), address)
    pair.call(lambda x: x.unsqueeze_(0), x)
    assert (x.shape, x.data_ptr()) == ((1, 3, 2), address)
    pair.call(lambda x: x.resize_(20).zero_(), x)
    assert x.tolist() == [0] * 20
    pair.call(lambda x: setattr(x, "data", torch.tensor([1.5])), x)
    assert x.tolist() == [1.5]
    pair.call(lambda x: setattr(x, "data", torch.tensor([7, 8])), x)
    assert same(x, torch.tensor([7, 8]))
    z = torch.tensor([1 + 2j])
    pair.call(lambda z: setattr(z, "data", z.data.conj()), z)
    assert z.is_conj()
    assert z.tolist() == [1 - 2j]


def test_containers_change_here_as_there() -> None:
    """Appending, updating and adding in the worker change the same objects at the asking end, nested ones too."""
    numbers, names, chosen, inner = [1], {"a": 1}, {1}, [0]
    outer = (inner, {"inner": inner})

    def change(*args: Any) -> None:
        args[0].append([2, args[0]] and 2)
        args[1].update(b=2)
        del args[1]["a"]
        args[2].add(5)
        args[3][1]["inner"].insert(0, torch.ones(1))
        args[3][1]["new"] = args[3][0]

    Pair().call(change, numbers, names, chosen, outer)
    assert numbers == [1, 2]
    assert names == {"b": 2}
    assert chosen == {1, 5}
    assert outer[0] is inner
    assert same(inner, [torch.ones(1), 0])
    assert outer[1]["new"] is inner


@given(arrays(), st.integers(0, 255))
@settings(EXAMPLES)
def test_arrays_change_here_as_there(array: np.ndarray, byte: int) -> None:
    """What the worker writes into an array of ours is in it afterwards, unless it is read-only."""
    pair = Pair()
    before = bits(array)

    def write(arg: np.ndarray) -> bytes:
        if arg.flags.writeable:
            arg[...] = byte // 2
        return bits(arg)

    if array.flags.writeable:
        assert pair.call(write, array) == bits(array)
    else:
        assert pair.call(write, array) == before == bits(array)


def test_a_change_of_type_is_a_change() -> None:
    """Replacing a number by an equal one of another type is seen at the asking end."""
    numbers = [1, 0.0, {"a": True}]

    def change(numbers: list[Any]) -> None:
        numbers[0], numbers[1] = True, -0.0
        numbers[2]["a"] = 1.0

    Pair().call(change, numbers)
    assert same(numbers, [True, -0.0, {"a": 1.0}])


def test_subclasses_of_containers_are_changed() -> None:
    """A dict or list of a subclass is changed in place as a plain one is, and stays of its class."""
    counts = collections.Counter("aab")
    groups = collections.defaultdict(list, a=[1])

    def change(counts: dict[str, int], groups: dict[str, list[int]]) -> None:
        counts["c"] = 5
        groups["a"].append(2)
        groups["b"] = [3]

    Pair().call(change, counts, groups)
    assert counts == collections.Counter("aabccccc")
    assert groups == {"a": [1, 2], "b": [3]}
    assert groups["z"] == []


def test_an_array_changes_its_shape_here_as_there() -> None:
    """A new shape or a cleared writeable flag of an array is seen at the asking end."""
    pair = Pair()
    array = np.arange(6)

    def change(arg: np.ndarray) -> None:
        arg.resize((2, 3), refcheck=False)
        arg.flags.writeable = False

    pair.call(change, array)
    assert array.shape == (2, 3)
    assert not array.flags.writeable


def test_what_the_worker_changes_is_told_only_once() -> None:
    """A block that nobody changed since does not travel again."""
    pair = Pair()
    x = torch.zeros(1000)
    pair.call(lambda x: None, x)
    out = Outgoing(pair.asks)
    out.value(x)
    _, data = out.finish()
    assert data == []


# -------------------------------------------------------------------------------------------------------- sharing


def shares(one: Any, other: Any) -> bool:
    """Whether writing to the first element of one changes the other."""
    before = bits(other)
    kept = one.reshape(-1)[:1].copy() if isinstance(one, np.ndarray) else one.reshape(-1)[:1].clone()
    one.reshape(-1)[:1] += 1
    changed = bits(other) != before
    one.reshape(-1)[:1] = kept
    return changed


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


def linked(one: Any, other: Any) -> bool:
    """Whether two views see each other's writes, at any place."""
    for view in (one, other):
        if isinstance(view, torch.Tensor):
            view.fill_(0)
        else:
            view[...] = 0
    if isinstance(one, torch.Tensor):
        one.fill_(1)
    else:
        one[...] = 1
    return bool((other != 0).any())


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


# -------------------------------------------------------------------------------------------------- forgetting


def sizes(exchange: Exchange) -> list[int]:
    return [len(exchange.known), len(exchange.numbers), len(exchange.blocks), len(exchange.containers)]


@pytest.mark.parametrize(
    ("make", "function"),
    [
        (lambda: torch.zeros(3), lambda x: x),
        (lambda: torch.zeros(3), lambda x: x + 1),
        (lambda: torch.zeros(3), lambda x: x.numpy()[1:]),
        (lambda: np.zeros(3), lambda a: a),
        (lambda: np.zeros(3), lambda a: a[::-1]),
        (lambda: np.zeros(3), lambda a: torch.from_numpy(a)),
        (lambda: np.zeros(3), lambda a: torch.from_numpy(a[1:])),
        (lambda: (a := np.zeros(3), torch.from_numpy(a)), lambda both: both[1]),
        (lambda: [torch.zeros(3)], lambda x: [x, {"a": x[0][1:]}, {1}]),
        (lambda: torch.zeros(3, requires_grad=True), lambda x: (x * 2).sum().backward()),
        (lambda: 1, lambda x: object()),
        (lambda: 1, lambda x: [torch.ones(3), np.ones(3)]),
    ],
)
def test_dropped_objects_are_forgotten(make: Callable[[], Any], function: Callable[..., Any]) -> None:
    """Over 200 calls with new arguments and results, neither end's tables grow, and the memory is given back."""
    pair = Pair()
    for _ in range(3):
        pair.call(function, make())
    before = sizes(pair.asks), sizes(pair.answers)
    for _ in range(200):
        pair.call(function, make())
    gc.collect()
    pair.call(lambda: None)
    pair.call(lambda: None)
    assert sizes(pair.asks) <= before[0]
    assert sizes(pair.answers) <= before[1]
    assert sizes(pair.asks)[0] == sizes(pair.answers)[0] == 0
    assert sizes(pair.asks)[2] == 0


def test_a_view_keeps_its_array_known() -> None:
    """While a view of an array lives here, the worker's memory for it stays the same, though the array is dropped."""
    pair, stored = Pair(), []
    a = np.zeros(4)
    view = a[1:]
    pair.call(lambda a, view: stored.append(a), a, view)
    del a
    view[:] = 1
    pair.call(lambda: None)
    assert pair.call(lambda view: (stored[0].tolist(), linked(stored[0], view)), view) == ([0, 1, 1, 1], True)


def test_one_of_two_owners_of_memory_may_go() -> None:
    """When a tensor made of an array is dropped, the array stays the one that the worker knows, and the other way."""
    pair, stored = Pair(), []
    a = np.zeros(4)
    tensor = torch.from_numpy(a)
    pair.call(lambda a, tensor: stored.append((a, tensor)), a, tensor)
    del tensor
    a[:] = 1
    assert pair.call(lambda a: (a is stored[0][0], a.tolist()), a) == (True, [1, 1, 1, 1])
    pair.call(lambda a: a.fill(2), a)
    assert a.tolist() == [2, 2, 2, 2]


def test_a_reset_begins_anew_at_both_ends() -> None:
    """After a reset nothing is known any more, and the worker drops what it held with the next message."""
    pair = Pair()
    x = torch.zeros(2)
    pair.call(lambda x: x, x)
    pair.asks.reset()
    pair.call(lambda: None)
    assert sizes(pair.asks) == sizes(pair.answers) == [0, 0, 0, 0]
    assert pair.call(lambda x: x.add_(1), x) is x
    assert x.tolist() == [1, 1]


def test_an_object_that_dies_while_the_worker_works_does_no_harm() -> None:
    """What the garbage collector would take during a call is still there when the worker returns it."""
    pair = Pair()
    asks, answers = pair.asks, pair.answers
    x = torch.zeros(2)
    stored = []
    pair.call(stored.append, x)
    out = Outgoing(asks)
    told, data = travel(*out.finish(), [])
    del x
    gc.collect()
    Incoming(answers, told["objects"], data)
    reply = Outgoing(answers)
    item = reply.value(stored[0])
    told, data = travel(*reply.finish(), [item])
    assert Incoming(asks, told["objects"], data).value(told["values"][0]).tolist() == [0, 0]


# ------------------------------------------------------------------------------------------- gradients and claims


def test_requires_grad_is_handed_over() -> None:
    """The worker gets leaves that require gradients as the check's do, and what it returns is detached with claims."""
    x = torch.ones(2, requires_grad=True)
    seen = []

    def double(x: torch.Tensor) -> torch.Tensor:
        seen.append((x.requires_grad, x.is_leaf))
        return x * 2

    y = Pair().call(double, x)
    assert seen == [(True, True)]
    claims = claims_of(y)
    assert claims is not None
    assert (claims.requires_grad, claims.is_leaf, claims.grad_fn) == (True, False, "MulBackward0")
    assert not y.requires_grad
    assert claims_of(torch.ones(1)) is None


def test_gradients_are_told() -> None:
    """A gradient that the worker computes is in `.grad` here; one that we had is there; and one set to None is gone."""
    pair = Pair()
    x = torch.ones(2, requires_grad=True)
    pair.call(lambda x: (x * 3).sum().backward(), x)
    assert x.grad is not None
    assert x.grad.tolist() == [3, 3]
    gradient = x.grad
    pair.call(lambda x: (x * 3).sum().backward(), x)
    assert x.grad is gradient
    assert x.grad.tolist() == [6, 6]
    assert pair.call(lambda x: x.grad, x) is gradient
    pair.call(lambda x: setattr(x, "grad", None), x)
    assert x.grad is None
    x.grad = torch.zeros(2)
    assert pair.call(lambda x: x.grad.tolist(), x) == [0, 0]
    x.grad = None
    assert pair.call(lambda x: x.grad is None, x)


def test_a_sparse_gradient_stays_in_the_worker() -> None:
    """A gradient of a layout that cannot be handed over does not make the reply invalid."""
    weight = torch.ones(3, 2, requires_grad=True)

    def look_up(weight: torch.Tensor) -> float:
        torch.nn.functional.embedding(torch.tensor([1]), weight, sparse=True).sum().backward()
        return 1.0

    assert Pair().call(look_up, weight) == 1.0
    assert weight.grad is None


@pytest.mark.parametrize("context", [lambda: torch.device("meta"), torch.inference_mode, torch.no_grad])
def test_a_default_device_or_mode_does_not_matter(context: Callable[[], Any]) -> None:
    """Values travel under a default device, inference mode or no_grad as they do without."""
    x = torch.arange(3.0)
    with context():
        y = Pair().call(lambda x: x, x)
        z = Pair().call(lambda x: copies(x)[0], x)
    assert y is x
    assert same(z, x)


# ------------------------------------------------------------------------------------------------------ read-only


def forged(exchange: Exchange, data: bytes) -> None:
    """A reply that overwrites every block of the asking end."""
    rows = [[block.number, block.size, 0, True] for block in exchange.blocks.values()]
    Incoming(exchange, {"new": [], "changed": [], "blocks": rows}, memoryview(bytearray(data)))


@pytest.mark.parametrize("cleared_late", [False, True])
def test_a_message_cannot_write_to_read_only_memory(cleared_late: bool) -> None:
    """Memory that is read-only here is not overwritten, whatever a message says, even if it became so later."""
    pair = Pair()
    array = np.zeros(4) if cleared_late else np.frombuffer(bytes(32))
    pair.call(lambda a: None, array)
    if cleared_late:
        array.flags.writeable = False
    with pytest.raises(ProtocolFault):
        forged(pair.asks, b"\1" * 32)
    assert bits(array) == bytes(32)


# --------------------------------------------------------------------------------------------------------- copies


def test_copies_share_as_the_values_do() -> None:
    """Copies keep identity and sharing among themselves and have nothing in common with the values."""
    x = torch.arange(4.0)
    one, other, box = copies(x, x[1:], [x, x.numpy()])
    assert box[0] is one
    assert linked(one, other)
    assert linked(box[1], one)
    assert x.tolist() == [0, 1, 2, 3]


def change_all(x: torch.Tensor, a: np.ndarray, box: list[Any], names: dict[str, int], chosen: set[int]) -> None:
    x.add_(1)
    a += 1
    box.append(5)
    names["new"] = 1
    chosen.clear()


@pytest.mark.parametrize("calls", [1, 2])
def test_copies_of_the_originals(calls: int) -> None:
    """`originals=` gives the values as they were before the worker changed them, however often it was called."""
    pair = Pair()
    x, a, box, names, chosen = torch.zeros(3), np.zeros(3), [torch.ones(1)], {"a": 1}, {1, 2}
    for _ in range(calls):
        pair.call(change_all, x, a, box, names, chosen)
    before = copies(x, a, box, names, chosen, x[1:], originals=pair.asks)
    assert same(before, (torch.zeros(3), np.zeros(3), [torch.ones(1)], {"a": 1}, {1, 2}, torch.zeros(3)[1:]))
    assert x.tolist() == [calls] * 3
    assert len(box) == 1 + calls
    x.fill_(7)
    box.append(8)
    later = copies(x, box, originals=pair.asks)
    assert later[0].tolist() == [7, 7, 7]
    assert len(later[1]) == 2 + calls


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.unsqueeze_(0),
        lambda x: x.t_(),
        lambda x: x.resize_(9).fill_(5),
        lambda x: setattr(x, "data", torch.ones(1)),
        lambda x: [x.add_(1), setattr(x, "data", torch.ones(1))],
        lambda x: x.squeeze_().zero_(),
    ],
)
def test_copies_of_the_originals_have_their_geometry(change: Callable[[torch.Tensor], Any]) -> None:
    """`originals=` undoes a changed shape or storage, not only changed elements."""
    pair = Pair()
    x = torch.arange(4.0).reshape(1, 4)
    before = x.clone()
    pair.call(quietly(change), x)
    assert same(copies(x, [x], originals=pair.asks), (before, [before]))
    pair.call(lambda: None)
    (first, box) = copies(x, [x], originals=pair.asks)
    assert same(first, before)
    assert box[0] is first


def test_copies_of_the_originals_have_their_gradients() -> None:
    """`originals=` undoes a gradient that the worker computed: a reference must not add to it."""
    pair = Pair()
    x = torch.ones(2, requires_grad=True)
    pair.call(lambda x: (x * 3).sum().backward(), x)
    assert x.grad is not None
    (copy,) = copies(x, originals=pair.asks)
    assert copy.requires_grad
    assert copy.grad is None
    x.grad = torch.ones(2)
    pair.call(lambda x: (x * 3).sum().backward(), x)
    (copy,) = copies(x, originals=pair.asks)
    assert copy.grad.tolist() == [1, 1]
    assert x.grad.tolist() == [4, 4]


def test_a_worker_cannot_choose_the_originals() -> None:
    """A message that changes one list twice cannot pass its own first version off as the original."""
    pair = Pair()
    box = [1]
    out = Outgoing(pair.asks)
    name = out.value(box)
    out.finish()
    rows = [[name[1], ["list", [66]]], [name[1], ["list", [77]]]]
    try:
        Incoming(pair.asks, {"new": [], "changed": rows, "blocks": []}, memoryview(bytearray()))
    except ProtocolFault:
        return
    assert copies(box, originals=pair.asks) == ([1],)


# ------------------------------------------------------------------------------------------ what cannot be handed


def nested(depth: int, inner: Any) -> Any:
    for _ in range(depth):
        inner = [inner]
    return inner


def cyclic() -> list[Any]:
    box: list[Any] = [1]
    box.append({"box": (box,)})
    return box


UNSUPPORTED = {
    "a cyclic list": cyclic,
    "too deep nesting": lambda: nested(100, 1),
    "billion laughs": lambda: laughs(30),
    "too deep slices": lambda: slices(5000),
    "a huge int": lambda: 1 << (1 << 20),
    "a huge expanded tensor": lambda: torch.zeros(1).expand(1 << 40),
    "a huge broadcast array": lambda: np.broadcast_to(np.zeros(1), (1 << 40,)),
    "too many dimensions": lambda: torch.zeros([1] * 70),
    "too many objects": lambda: [()] + [[] for _ in range(5001)],
    "a large set": lambda: set(range(100_001)),
    "a large dict": lambda: dict.fromkeys(range(100_001)),
}


def laughs(depth: int) -> Any:
    box: Any = (1, 2)
    for _ in range(depth):
        box = (box, box)
    return box


def slices(depth: int) -> Any:
    part = slice(1)
    for _ in range(depth):
        part = slice(part)
    return part


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_is_too_much_is_unsupported_at_both_ends(name: str) -> None:
    """A value that the other end would refuse is refused by our own, by name, so that nobody is blamed for a fault."""
    value = UNSUPPORTED[name]()
    with pytest.raises(Unsupported):
        Pair(Caps(objects=5000)).call(lambda value: None, value)
    with contextlib.suppress(Unsupported):
        assert isinstance(Pair(Caps(objects=5000)).call(lambda: value), Handle)


@pytest.mark.parametrize(
    "value",
    [len, lambda: 1, object(), int, np.datetime64("2020-01-01"), np.array(["a"]), iter([1])],
    ids=["built-in", "lambda", "object", "class", "date", "text array", "iterator"],
)
def test_functions_and_objects_of_the_asking_side_are_unsupported(value: Any) -> None:
    """Functions, classes and objects of a check never cross; those of a worker become handles."""
    with pytest.raises(Unsupported):
        Pair().call(lambda value: None, [value])
    handle = Pair().call(lambda: [value])[0]
    assert isinstance(handle, Handle)
    assert handle.claims.type == type(value).__name__
    assert handle.claims.callable == callable(value)


class MyTensor(torch.Tensor):
    """A subclass."""


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.zeros(2, device="meta"),
        lambda: torch.eye(2).to_sparse(),
        lambda: torch.ones(2).as_subclass(MyTensor),
        lambda: torch._neg_view(torch.ones(2).to(torch.float8_e5m2)),
        lambda: np.ma.array([1]),
        lambda: np.zeros(2, "M8[s]"),
        lambda: np.zeros(2, [("a", "f4")]),
        lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_odd_tensors_become_handles(make: Callable[[], Any]) -> None:
    """Tensors and arrays that are not plain memory come back as handles that say why, and cannot be handed over."""
    handle = Pair().call(make)
    assert isinstance(handle, Handle)
    assert handle.claims.text
    with pytest.raises(Unsupported):
        Pair().call(lambda value: None, make())


def test_a_worker_that_makes_a_cycle_of_an_argument_is_unsupported() -> None:
    """A list of ours that holds itself after a call is not made here: the worker says that it cannot be told."""
    box: list[Any] = [1]
    with pytest.raises(Unsupported):
        Pair().call(lambda box: box.append(box), box)
    assert box == [1]
    one, other = [1], [2]

    def knot(one: list[Any], other: list[Any]) -> None:
        one.append([other])
        other.append({"a": one})

    with pytest.raises(Unsupported):
        Pair().call(knot, one, other)


@pytest.mark.parametrize("inside", ["result", "argument"])
def test_a_refused_value_leaves_nothing_half_known(inside: str) -> None:
    """After a message that could not be written, what it would have told of first is handed over by the next."""
    pair = Pair()
    x, theirs = torch.zeros(2), torch.ones(3)
    with pytest.raises(Unsupported):
        if inside == "argument":
            pair.call(lambda *args: None, [x, [2]], cyclic())
        else:
            pair.call(lambda x: [theirs, cyclic()], x)
    result = pair.call(lambda x: [x, theirs, x.tolist()], x)
    assert result[0] is x
    assert same(result[1:], [theirs, [0.0, 0.0]])


def test_a_result_too_large_for_a_message_leaves_nothing_half_known() -> None:
    """After memory that is more than a message may hold, smaller values travel as before."""
    pair = Pair(Caps(data_bytes=1000))
    x, theirs = torch.zeros(2), torch.ones(3)
    with pytest.raises(Unsupported):
        pair.call(lambda x: [x.add_(1), theirs, torch.zeros(1000)], x)
    result = pair.call(lambda x: [x, theirs], x)
    assert result[0] is x
    assert same(result[1], theirs)
    with pytest.raises(Unsupported):
        pair.call(lambda *args: None, x, big := torch.zeros(1000))
    del big
    assert pair.call(lambda x: x, x) is x


def test_many_tensors_take_little_time() -> None:
    """Thousands of separate tensors there and back cost linear time: ten times as many, some ten times as long."""

    def seconds(count: int) -> float:
        values = [torch.tensor(1) for _ in range(count)]
        start = time.process_time()
        result = Pair().call(lambda values: [value.clone() for value in values], values)
        assert len(result) == count
        return time.process_time() - start

    assert seconds(3000) < 40 * min(seconds(300) for _ in range(3))
