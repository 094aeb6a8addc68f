"""What checks say about tensors: short texts that fit hidden inputs, stories with numbers for shown ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from support import failure

from grader.check import (
    CheckFailed,
    Rng,
    assert_close,
    assert_device,
    assert_dtype,
    assert_in_place,
    assert_isinstance,
    assert_memory_layout,
    assert_shape,
    assert_shares_memory,
    assert_shares_no_memory,
    assert_true,
    assert_unchanged,
    assert_values,
    assert_view,
    assert_writes_show,
    check,
    copies,
    shares_memory,
)
from grader.check.declare import Accelerator
from grader.check.show import as_source, item_name, show
from grader.check_process.hidden_words import Words
from grader.connection.student import Student
from grader.model import DeviceKind
from grader.wire.frames import Unsupported


def test_copies_refuses_what_cannot_be_sent() -> None:
    """A function would come back as the same object, and a change of it would show in both."""
    with pytest.raises(Unsupported, match="an object of type builtin_function_or_method cannot be sent"):
        copies([1, len, None])
    x = torch.ones(2)
    (one, (view, _)) = copies(x, [x[:1], None])
    assert shares_memory(one, view)
    assert not shares_memory(one, x)


def test_an_array_is_not_a_tensor() -> None:
    """Where a tensor is expected, also in a list, a right array is wrong, and the other way round."""
    x = torch.ones(2)
    for yours, expected in ((x.numpy(), x), (np.float32(1), torch.tensor(1.0)), ([x.numpy()], [x])):
        failed = failure(assert_values, yours, expected)
        assert "to be a tensor, got a NumPy" in failed.public
        assert failed.about == "kind"
    assert "to be a NumPy array, got a tensor" in failure(assert_values, x, x.numpy()).public
    assert_values(x.numpy(), x.double().numpy())
    assert_values(1.0, torch.tensor(1.0))


@pytest.mark.parametrize(
    ("yours", "asked", "public"),
    [
        ([1.0], torch.tensor([1.0]), "expected the result to be a tensor, got a list"),
        (torch.ones(3, 1), torch.ones(3), "the result has the wrong shape"),
        (torch.ones(3).double(), torch.ones(3), "expected the result to have dtype float32, got float64"),
        (
            torch.tensor([1.0, 2.5]),
            torch.tensor([1.0, 2.0]),
            "the result has the wrong values: 1 of 2 elements is wrong",
        ),
        (torch.tensor(3), torch.tensor(4), "the result has the wrong value"),
        (np.ones(2), np.ones(3), "the result has the wrong shape"),
        (torch.ones(2), np.ones(2), "expected the result to be a NumPy array, got a tensor"),
        (2, 2.0, "expected the result to be a float, got an int"),
        (True, 1, "expected the result to be an int, got a bool"),
        (torch.tensor([float("nan")]), torch.tensor([1.0]), "the result has NaN where a number is expected: 1 of"),
    ],
)
def test_same_names_the_first_property_that_differs(yours: Any, asked: Any, public: str) -> None:
    """Kind, shape, dtype and values are looked at in this order; the short text tells no number of the input."""
    assert failure(assert_close, yours, asked).public.startswith(public.split(": 1 of")[0])


def test_a_number_of_numpy_is_named_in_words_that_hidden_checks_show() -> None:
    """A reference that returns `np.float64` expects a NumPy number, not a class that no check file names."""
    public = failure(assert_values, torch.tensor(1.0), np.float64(1)).public
    assert public == "expected the result to be a NumPy number, got a tensor"
    assert Words([""]).shown_text(public) == public
    public = failure(assert_close, torch.tensor(1.0), np.float64(1)).public
    assert Words([""]).shown_text(public) == public == "expected the result to be a float64, got a tensor"


def test_equal_things_pass() -> None:
    """Equal values pass, within the tolerance of the less exact dtype; NaN is equal to NaN."""
    assert_close(torch.ones(2, 3), torch.ones(2, 3))
    assert_close(np.arange(3), np.arange(3))
    assert_close((1, (2, 3)), (1, (2, 3)))
    assert_values(torch.tensor([1.0, float("nan")]), torch.tensor([1.0, float("nan")]))
    assert_values(torch.tensor([0.1], dtype=torch.float32), torch.tensor([0.1], dtype=torch.float64))
    assert_values(torch.tensor([2**53 + 1]), torch.tensor([2**53 + 1]))
    assert_values(3, 3.0)
    assert_values(torch.ones(2, dtype=torch.complex64), torch.ones(2))
    assert_values(2**70, 2**70)
    assert_values([torch.ones(1), {"a": 2}], [torch.ones(1), {"a": 2}])


def test_values_are_compared_after_a_cast() -> None:
    """A wrong dtype does not cost the values' points; large integers are compared exactly all the same."""
    assert_values(torch.ones(3).int(), torch.ones(3))
    failure(assert_values, torch.tensor([2**53 + 1]), torch.tensor([2**53]))
    failure(assert_values, torch.tensor([1.0 + 1e-3]), torch.tensor([1.0]))
    failure(assert_values, torch.tensor([float("inf")]), torch.tensor([1e30]))
    # Where NaN is expected, a number is wrong, however loose the tolerance.
    nan = torch.tensor([float("nan")])
    assert failure(assert_values, torch.zeros(1), nan, rtol=1e9, atol=1e9).public.startswith("the result has the wrong")


def test_a_tolerance_counts_for_integers() -> None:
    """A tolerance that a check gives counts for integers, too, up and down, whatever their dtype holds."""
    expected = torch.tensor([100, 100], dtype=torch.uint8)
    assert_close(torch.tensor([98, 102], dtype=torch.uint8), expected, atol=2)
    assert_values(torch.tensor([103, 100]), expected, rtol=0.03)
    assert_values(np.int8(-2), 1, atol=3)
    failure(assert_values, torch.tensor([97, 100], dtype=torch.uint8), expected, atol=2)
    failure(assert_values, torch.tensor([-128, 0], dtype=torch.int8), torch.tensor([127, 0], dtype=torch.int8), atol=2)
    failure(assert_values, torch.tensor([2**53 + 1]), torch.tensor([2**53]), rtol=0, atol=0)


def test_a_wrong_shape_is_not_broadcast() -> None:
    """An answer is never broadcast to the expected shape."""
    wrong = failure(assert_values, torch.ones(3, 1), torch.ones(3))
    assert wrong.story == "the result has the wrong shape\nexpected  (3,)\ngot       (3, 1)"


def test_the_story_shows_what_differs() -> None:
    """Of small tensors both sides in full; of large ones the first wrong element, the worst, and how many there are."""
    assert failure(assert_values, torch.tensor([1.0, 3.0]), torch.tensor([1.0, 2.0])).story == (
        "the result has the wrong values: 1 of 2 elements is wrong\n"
        "expected  tensor([1., 2.])\n"
        "got       tensor([1., 3.])"
    )
    asked = torch.zeros(30, 40)
    yours = asked.clone()
    yours[3, 7], yours[20, 1] = 0.5, -2.0
    assert failure(assert_values, yours, asked).story == (
        "the result has the wrong values: 2 of 1200 elements are wrong\n"
        "first at [3, 7]: expected 0, got 0.5\n"
        "the largest difference is 2, at [20, 1]"
    )


def test_nested_values_tell_which_one() -> None:
    """A wrong tensor in a tuple is named by its place; plain numbers are shown together."""
    wrong = failure(assert_values, (torch.ones(2), torch.ones(2)), (torch.ones(2), torch.zeros(2)))
    assert wrong.public.startswith("item 1 of the result has the wrong values")
    items = [item_name(what, 0) for what in ("f(x)", 'found["a"]', "item 1 of the result")]
    assert items == ["f(x)[0]", 'found["a"][0]', "item 0 of item 1 of the result"]
    told = "the result is not the expected value\nexpected  (1, 3)\ngot       (1, 2)"
    assert failure(assert_values, (1, 2), (1, 3)).story == told
    assert failure(assert_values, (1, 2), (1, 2, 3)).public == "the result has the wrong number of items"
    assert failure(assert_values, [1], (1,)).public == "expected the result to be a tuple, got a list"


def test_layout() -> None:
    """Strides and offset are compared exactly."""
    base = torch.arange(6.0).view(2, 3)
    assert_memory_layout(base.t(), torch.zeros(2, 3).t())
    assert failure(assert_memory_layout, base.t().contiguous(), base.t()).story == (
        "the result has the wrong strides\nexpected  (1, 3)\ngot       (2, 1)"
    )
    assert failure(assert_memory_layout, base[1], base[0]).public == "the result has the wrong storage offset"


def test_sharing_is_of_storage() -> None:
    """Views share memory with their base, copies do not; two views on one storage share it without overlapping."""
    base = torch.arange(10.0)
    assert shares_memory(base[:2], base[5:])
    assert not shares_memory(base, base.clone())
    array = np.arange(6)
    assert shares_memory(torch.from_numpy(array[2:]), array[::-1])
    assert_shares_memory(base[::2], base)
    assert (
        failure(assert_shares_memory, base.clone(), base).public
        == "the result is a copy; it must share memory with the argument"
    )
    assert_shares_no_memory(base.clone(), base)
    assert "it must have its own" in failure(assert_shares_no_memory, base[1:], base).public
    assert_view(base[2:5], base[1:6])
    assert "reaches beyond" in failure(assert_view, base[0:5], base[1:6]).public


def test_unchanged_sees_numbers_layout_and_kind() -> None:
    """Numbers and layout must stay, NaN included; in a list, at every depth, 1 is neither 1.0 nor True."""
    x = torch.tensor([1.0, float("nan")])
    with assert_unchanged(x, [1, 2], {"a": 1}):
        pass
    with pytest.raises(CheckFailed) as failed, assert_unchanged(x):
        x[0] = 2
    told = "the argument was changed\nbefore  tensor([1., nan])\nafter   tensor([2., nan])"
    assert failed.value.story.startswith(told)
    with pytest.raises(CheckFailed, match="its shape, strides or dtype differs now"), assert_unchanged(x):
        x.unsqueeze_(0)

    def put(values: list[object], new: object) -> None:
        with assert_unchanged([values]):
            values[0] = new

    put([float("nan")], float("nan"))
    for old, new in ((1, 1.0), (1, True), (0.0, -0.0)):
        assert failure(put, [old], new).public == "the argument was changed"


def test_other_helpers() -> None:
    """Types, devices, conditions and identity have words of their own."""
    assert_isinstance(3, int)
    assert failure(assert_isinstance, True, int).public == "expected the result to be an int, got a bool"
    assert_device(torch.ones(1), "cpu")
    told = "expected the result to be on sim, got cpu (sim is the simulated GPU)"
    assert failure(assert_device, torch.ones(1), "sim").public == told
    assert failure(assert_true, 0, "short", "long").story == "long"
    assert "is not the argument itself" in failure(assert_in_place, torch.ones(1), torch.ones(1)).public
    assert_shape(torch.ones(2, 3), (2, 3))
    assert_dtype(np.float32(1), torch.float32)
    # The type of a device fits any index; a name with an index fits itself alone.
    second = Accelerator(DeviceKind.CUDA, count=2).put(torch.ones(1), 1)
    assert_device(second, "cuda")
    assert_device(second, "cuda:1")
    assert failure(assert_device, second, "cuda:0").public == "expected the result to be on cuda:0, got cuda:1"


def test_students_names_are_their_own() -> None:
    """On `student` nothing of ours can hide a function of the student's: what there is has a mangled name."""
    assert [name for name in dir(Student) if not name.startswith("__")] == ["_Student__connection"]


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t(),
        torch.arange(24).view(2, 3, 4)[:, :1, :2],
        torch.empty(0, 3, dtype=torch.int16),
        torch.tensor(2.5, dtype=torch.bfloat16),
        torch.tensor([float("nan"), float("inf"), -1.0]),
        torch.tensor([1 + 2j]).conj(),
        np.arange(6, dtype=">i4").reshape(2, 3),
        np.array([float("nan"), float("-inf"), 1.0]),
        np.float32(1.5),
        [1, (2.5, "text"), {"key": None}],
        (3,),
        float("nan"),
        torch.float64,
    ],
    ids=str,
)
def test_source_of_a_value_makes_an_equal_one(value: Any) -> None:
    """The text that reproduces an argument is Python that gives an equal value."""
    again = eval(as_source(value), {"torch": torch, "np": np})
    if isinstance(value, torch.Tensor):
        assert_close(again, value)
    elif isinstance(value, float):
        assert str(again) == str(value)
    else:
        assert_values(again, value) if not isinstance(value, torch.dtype) else None
        assert type(again) is type(value)


def test_source_keeps_strides() -> None:
    """A transposed argument is reproduced with its strides; what no short text makes is refused."""
    assert eval(as_source(torch.ones(2, 3).t()), {"torch": torch}).stride() == (1, 3)
    for without in (torch.ones(100), 10**5000, object()):
        with pytest.raises(ValueError, match=r"no short Python expression|limit"):
            as_source(without)
    array = np.arange(6).reshape(2, 3).T
    assert eval(as_source(array), {"np": np}).strides == array.strides
    assert "#" not in str(as_source(np.arange(10)[::2]))


def test_show_is_ascii_and_bounded() -> None:
    """Values in messages are ASCII, small ones whole, large ones by shape and dtype."""
    assert show("é\x1b") == r"'\xe9\x1b'"
    assert show(torch.ones(100, dtype=torch.float64)) == "a tensor of shape (100,), float64"
    assert len(show("x" * 10_000)) < 400
    assert show((1, [2.5])) == "(1, [2.5])"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [({"category": "speed"}, "category 'speed'"), ({"share": -1}, "negative"), ({"device": "tpu"}, "device 'tpu'")],
)
def test_declaration_refuses_what_does_not_exist(arguments: dict[str, Any], told: str) -> None:
    """A wrong category, share or device is an error when the check file is read."""
    with pytest.raises(ValueError, match=told):
        check("C1", **arguments)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e5m2, torch.int64, torch.bool])
def test_a_narrow_dtype_widens_no_tolerance(dtype: torch.dtype) -> None:
    """How close is close enough is the asked dtype's to say: else zeros in float8 would be anything."""
    asked = torch.tensor([0.011, 0.3, 1.7])
    for yours, wanted in ((asked, asked), (torch.zeros(3), asked), (torch.tensor(0.3), 0.3)):
        assert "wrong value" in failure(assert_values, yours.to(dtype), wanted).public


def test_the_asked_dtype_says_how_close() -> None:
    """A tensor of a narrow dtype is compared in its own steps; float32 for float64 costs the dtype alone."""
    exact = torch.tensor([0.1, 0.3, 1.7], dtype=torch.float64)
    assert_values(exact.float(), exact)
    for dtype in (torch.float16, torch.bfloat16, torch.float8_e4m3fn):
        asked = exact.to(dtype)
        assert_values(asked.clone(), asked)
        assert_values(asked.float() * (1 + torch.finfo(dtype).eps / 4), asked)
        failure(assert_values, asked.float() * 1.5, asked)


# -- inputs are what their names say, and come from the stream alone --------------------------------------------------


@pytest.fixture
def rng() -> Rng:
    """A generator as a check has it, with a seed of its own."""
    generator = Rng()
    generator.manual_seed(3)
    return generator


def test_names_say_what_comes(rng: Rng) -> None:
    """Ints and tuples of them are plain; what is named after its content is a tensor, bounds are included."""
    assert {rng.integer(2, 3) for _ in range(40)} == {2, 3}
    assert isinstance(rng.integers(0, 5, 2), tuple)
    assert {rng.boolean() for _ in range(40)} == {True, False}
    assert sorted(rng.shuffled("abc")) == ["a", "b", "c"]
    assert rng.choice("a") == "a"
    whole = rng.whole(-1, 1, 200, 2, dtype=torch.int16)
    assert (whole.dtype, whole.shape, whole.unique().tolist()) == (torch.int16, (200, 2), [-1, 0, 1])
    assert rng.permutation(5).sort().values.tolist() == [0, 1, 2, 3, 4]
    assert rng.distinct(3, 4).unique().numel() == 12
    assert rng.whole(0, 1).shape == ()


def test_what_differs(rng: Rng) -> None:
    """Of two bools or more there are both, and no two sizes are the same; where there are not enough, ValueError."""
    for _ in range(40):
        assert rng.bools(2).tolist() in ([True, False], [False, True])
        assert sorted(rng.sizes(3, 2, 4)) == [2, 3, 4]
    assert (rng.bools(0).shape, rng.bools(0).dtype) == ((0,), torch.bool)
    with pytest.raises(ValueError, match="there are no 3 different sizes from 2 to 3"):
        rng.sizes(3, 2, 3)


def test_the_stream_gives_all_of_it() -> None:
    """The same state gives the same, as it would to any generator, and PyTorch's own generator is not used."""
    before = torch.get_rng_state()

    def draw() -> list[torch.Tensor]:
        rng = Rng()
        rng.manual_seed(5)
        return [rng.normal(3), rng.bools(9), rng.distinct(4), torch.tensor(rng.shuffled([1, 2, 3]))]

    for one, other in zip(draw(), draw(), strict=True):
        torch.testing.assert_close(one, other)
    assert torch.equal(draw()[0], torch.randn(3, generator=torch.Generator().manual_seed(5)))
    assert torch.equal(before, torch.get_rng_state())


# -- writes that show: what shares its elements with another, and what does not ---------------------------------------


ARRAY = np.arange(6.0).reshape(2, 3)
DEEP = np.zeros((4, 3, 2), np.uint8)
FLAGS, ONE_NUMBER, ROWS = torch.ones(2, 3, dtype=torch.bool), torch.tensor(1.0), torch.ones(2, 3)
TURNED = np.zeros((2, 3)).T
READ_ONLY = ROWS.numpy()
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("yours", "base"),
    [
        (torch.from_numpy(ARRAY), ARRAY),
        (FLAGS.numpy(), FLAGS),
        (ONE_NUMBER.numpy(), ONE_NUMBER),
        (torch.from_numpy(DEEP.transpose(2, 0, 1)), DEEP.transpose(2, 0, 1)),
    ],
    ids=["contiguous", "flags", "one number", "transposed"],
)
def test_writes_show_in_views(yours: Any, base: Any) -> None:
    """Each view of the same elements passes, whatever its dtype and strides, and whichever side it is on."""
    assert_writes_show(yours, base)
    assert_writes_show(base, yours)


@pytest.mark.parametrize(
    ("yours", "base", "public"),
    [
        (ROWS.clone().numpy(), ROWS, "a write to t does not show in the array: the array is a copy"),
        (
            torch.from_numpy(TURNED.ravel(order="K")).reshape(3, 2),
            TURNED,
            "a write to t does not show at the same place in the array",
        ),
        (READ_ONLY, ROWS, "the array is read-only; a write to it must show in t"),
        (ROWS[0].numpy(), ROWS, "the array has the wrong shape"),
    ],
    ids=["copied", "out of order", "read-only", "one row"],
)
def test_what_else_there_is_fails(yours: Any, base: Any, public: str) -> None:
    """A copy, other elements, another order and a read-only array are told apart."""
    assert failure(assert_writes_show, yours, base, "the array", "t").public == public


def test_stale_numbers_do_not_count_as_writes() -> None:
    """A copy that holds by chance what is written first is found by what is written next."""
    base = torch.zeros(4)
    assert "the result is a copy" in failure(assert_writes_show, np.arange(1.0, 5.0), base).public
