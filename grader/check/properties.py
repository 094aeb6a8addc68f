"""What a value is: its kind, shape, dtype, device and layout; the parameters and buffers of a module; `assert_true`.

Each failure has two texts: the public one names the property that does not hold, and may be shown for a hidden check;
the story adds numbers, for shown checks and for staff. A module stays in the student's worker, and the check gets
copies of its parameters. To change them, call `load_weights`, or the module's own `load_state_dict`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from grader.check import show
from grader.connection.connection import is_proxy, kind_of, proxy_of_name, shown_name, target_of
from grader.model.endings import CheckFailed
from grader.model.picture import Picture
from grader.model.public_text import say
from grader.wire.facts import TensorFacts, facts_of


def assert_true(condition: Any, public: str, story: str = "") -> None:
    """Fail unless a condition holds.

    Args:
        condition: anything that is true or false.
        public: a text on what is wrong; it must not reveal a hidden input or its expected value.
        story: the same with numbers, for shown checks and staff.

    Raises:
        CheckFailed: the condition is false.
    """
    if not condition:
        raise CheckFailed(public, story)


def unequal_failure(
    public: str, expected: Any, actual: Any, about: str = "", picture: Picture | None = None, head: str = ""
) -> CheckFailed:
    """Return the error that a check raises if a value differs from the expected one.

    With the sentence "the result has the wrong shape", a shown check has this line and two more: "expected (2, 3)" and
    "got (3, 2)". A hidden check has the sentence alone, since numbers could reveal its inputs.

    Args:
        public: the sentence on what is wrong, which hidden checks may show, too.
        expected: the expected value, for the second line of a shown check.
        actual: the actual value, for the third line.
        about: the name of the property that differs, such as "shape"; "" for the values themselves.
        picture: a picture of both values, which is shown in place of the second and third line; None for none.
        head: the first line of a shown check, which may have names or numbers; "" for `public`.
    """
    story = show.expected_and_got(head or public, expected, actual)
    picture = picture and replace(picture, said=story.partition("\n")[2])
    return CheckFailed(public, story, about, picture)


def assert_of_kind(fits: bool, actual: Any, expected: str, what: str) -> None:
    """Raise the error about a value of a wrong kind, unless `fits` says that it is right.

    The message is such as "expected the result to be a tensor, got a list".

    Args:
        fits: True if the value is of the expected kind, as the caller has found out.
        actual: the value.
        expected: the expected kind, in words, such as "a tensor".
        what: the name of the value in messages, such as "the result".

    Raises:
        CheckFailed: `fits` is false.
    """
    if not fits:
        public = say("expected {} to be {}, got {}", what, expected, show.kind(actual, public=True))
        raise CheckFailed(public, f"expected {what} to be {expected}, got {show.kind(actual)}", about="kind")


def assert_tensor(actual: Any, what: str = "the result") -> None:
    """Fail unless a value is a tensor.

    Args:
        actual: the student's value.
        what: its name in messages.

    Raises:
        CheckFailed: it is of another type.
    """
    assert_of_kind(isinstance(actual, torch.Tensor), actual, "a tensor", what)


def assert_array(actual: Any, what: str = "the result") -> None:
    """Fail unless a value is a NumPy array.

    Args:
        actual: the student's value.
        what: its name in messages.

    Raises:
        CheckFailed: it is of another type.
    """
    assert_of_kind(isinstance(actual, np.ndarray), actual, "a NumPy array", what)


def assert_isinstance(actual: Any, kind: Any, what: str = "the result") -> None:
    """Fail unless a value is an instance of a type. A bool is not an int here.

    Args:
        actual: the student's value, or an object that stays in the worker.
        kind: a plain type, a class of PyTorch's, or a class of the student's.
        what: the value's name in messages.

    Raises:
        CheckFailed: it is not an instance. For an object in a worker, the worker answers, and its answer is untrusted.
    """
    assert_of_kind(
        is_instance(actual, kind),
        actual,
        show.with_article(shown_name(kind) if is_proxy(kind) else kind.__name__),
        what,
    )


def is_instance(actual: Any, kind: Any) -> bool:
    """Return whether a value is an instance of a type.

    A bool is not an int here. The worker examines an object that stays there, and the worker's answer is untrusted.

    Args:
        actual: the value.
        kind: a type, or a class of the student's.
    """
    if is_proxy(actual):
        known = kind if is_proxy(kind) else f"{kind.__module__}.{kind.__qualname__}"
        connection = target_of(actual).connection
        return connection.call(proxy_of_name(connection, "is_instance", ""), (actual, known), {}, actual) is True
    # In Python True is an int; an exercise that expects a number does not mean that.
    return not is_proxy(kind) and isinstance(actual, kind) and not (kind is int and isinstance(actual, bool))


def assert_has_shape(actual: Any, what: str) -> None:
    """Fail unless a value has a shape and a dtype: a tensor, an array or a NumPy number.

    Args:
        actual: the student's value.
        what: its name in messages.

    Raises:
        CheckFailed: the value lacks a shape or a dtype.
    """
    assert_of_kind(hasattr(type(actual), "shape") and hasattr(type(actual), "dtype"), actual, "a tensor", what)


def kind(value: Any) -> str:
    """Return what a value is, in words that a hidden check may show, such as "a tensor".

    None is "None (is a `return` missing?)".

    Args:
        value: anything; of an object that stays in the worker, no text of the student's is returned.

    Returns:
        Words that a hidden check may show.
    """
    return show.kind(value, public=True)


def type_name(value: Any) -> str:
    """Return the name of the class of a value.

    Args:
        value: any value; the class name of an object that stays in a worker is sent by the worker, and is untrusted.

    Returns:
        The name, such as "Counter".
    """
    return kind_of(value) if is_proxy(value) else type(value).__name__


def assert_shape(actual: Any, expected: Any, what: str = "the result") -> None:
    """Fail unless two shapes are equal.

    Args:
        actual: the student's tensor, array or NumPy number.
        expected: a shape such as (2, 3), or a tensor or an array that has it.
        what: the name of `actual` in messages.

    Raises:
        CheckFailed: `actual` has no shape, or another one.
    """
    assert_has_shape(actual, what)
    wanted = tuple(expected.shape if hasattr(expected, "shape") else expected)
    if show.shape(actual) != wanted:
        raise shape_failure(show.shape(actual), wanted, what)


def shape_failure(actual: tuple[int, ...], expected: tuple[int, ...], what: str) -> CheckFailed:
    """Return the `CheckFailed` to raise for two shapes that must be equal and differ.

    Args:
        actual: the student's shape.
        expected: the right one.
        what: the name of the value in messages.

    Returns:
        The exception to raise.
    """
    public = say("{} has the wrong shape", what)
    return unequal_failure(public, expected, actual, "shape", show.shapes_picture(expected, actual))


def assert_dtype(actual: Any, expected: Any, what: str = "the result") -> None:
    """Fail unless two dtypes are equal. PyTorch's and NumPy's dtypes of one name are equal.

    Args:
        actual: the student's tensor, array or NumPy number.
        expected: a dtype such as torch.float32, or a tensor or an array that has it.
        what: the name of `actual` in messages.

    Raises:
        CheckFailed: `actual` has no dtype, or another one.
    """
    assert_has_shape(actual, what)
    # By name, as PyTorch and NumPy have types of their own for the same dtype.
    wanted = str(getattr(expected, "dtype", expected)).removeprefix("torch.")
    if show.dtype(actual) != wanted:
        public = say("expected {} to have dtype {}, got {}", what, wanted, show.dtype(actual, public=True))
        story = f"expected {what} to have dtype {wanted}, got {show.dtype(actual)}"
        raise CheckFailed(public, story, about="dtype")


def assert_device(actual: Any, expected: str, what: str = "the result") -> None:
    """Fail unless a tensor, or each parameter and buffer of a module, is on a device.

    Args:
        actual: the student's tensor or module.
        expected: a device such as "cpu"; "cuda" allows any index, "cuda:1" only that one.
        what: the name of `actual` in messages.

    Raises:
        CheckFailed: a tensor is on another device, as the worker says, or `actual` is of another type.
    """
    if is_proxy(actual) and is_instance(actual, torch.nn.Module):
        groups = [_named_tensors(actual, group, what) for group in ("parameters", "buffers")]
        for tensor in (tensor for tensors in groups for tensor in tensors.values()):
            assert_device(tensor, expected, say("a parameter or buffer of {}", what))
        return
    assert_tensor(actual, what)
    device = facts(actual).device
    place = device if device in show.DEVICES else "another device"  # a worker's free text goes into no message
    if expected not in (device, device.split(":")[0]):
        public = say("expected {} to be on {}, got {}", what, expected, place)
        if "sim" in (expected.split(":")[0], place.split(":")[0]):
            public = say("{} (sim is the simulated GPU)", public)
        raise CheckFailed(public, about="device")


def assert_memory_layout(actual: Any, expected: Any, what: str = "the result") -> None:
    """Fail unless a value has the same shape, strides and storage offset as another.

    Args:
        actual: the student's tensor or array.
        expected: a tensor or an array that has the right ones. Strides are in elements, those of an array in bytes.
        what: the name of `actual` in messages.

    Raises:
        CheckFailed: one of them differs, or `actual` is of another type.
    """
    if isinstance(expected, torch.Tensor):
        assert_tensor(actual, what)  # the strides of an array are in bytes
    assert_shape(actual, expected, what)
    names = say("strides"), say("storage offset")
    for name, mine, wanted in zip(names, layout_of(actual), layout_of(expected), strict=True):
        if mine != wanted:
            picture = show.views_picture({"expected": expected, "got": actual})
            raise unequal_failure(say("{} has the wrong {}", what, name), wanted, mine, picture=picture)


def facts(tensor: torch.Tensor) -> TensorFacts:
    """Return the facts that the worker sends about a tensor, which are untrusted.

    Args:
        tensor: the student's. A tensor that a check made has its own facts.

    Returns:
        `requires_grad`, `is_leaf`, `grad_fn` (a name, or None), `version` (how often it was written to) and `device`.

    Raises:
        CheckFailed: it is not a tensor.
    """
    assert_tensor(tensor)
    return facts_of(tensor)


def layout_of(value: Any) -> tuple[tuple[int, ...], int]:
    """Return the strides and the storage offset of a tensor or an array.

    For `torch.zeros(2, 3)` they are ((3, 1), 0). Strides and offset of a tensor count elements. The strides of an array
    count bytes, and its offset is 0.

    Args:
        value: a tensor or an array.
    """
    if isinstance(value, torch.Tensor):
        return tuple(value.stride()), int(value.storage_offset())
    return tuple(value.strides), 0


Shapes = Mapping[str, Sequence[int]]


def assert_parameters(
    module: Any, parameters: Shapes, what: str = "", *, buffers: Shapes | None = None, dtype: Any = None
) -> None:
    """Fail unless a module has parameters of these names and shapes, and no others.

    Args:
        module: the student's.
        parameters: shapes by name, such as {"weight": (4, 3)}.
        what: the module's name in messages; "your `Net`" by default.
        buffers: the same for buffers; by default they are not checked.
        dtype: the dtype of all parameters; by default it is not checked.

    Raises:
        CheckFailed: one is missing, is not expected, or has another shape or dtype; or it is not a module.
    """
    what = what or _module_name(module)
    tensors = _named_tensors(module, "parameters", what)
    _assert_named_shapes(tensors, parameters, say("parameter"), what)
    if buffers is not None:
        _assert_named_shapes(_named_tensors(module, "buffers", what), buffers, say("buffer"), what)
    # The names are those of the check by now.
    for name, tensor in tensors.items():
        if dtype is not None and tensor.dtype is not dtype:
            public = say("the parameter `{}` of {} has the wrong dtype", name, what)
            raise unequal_failure(public, str(dtype).removeprefix("torch."), show.dtype(tensor), "dtype")


def load_weights(module: Any, other: Any, what: str = "") -> Any:
    """Copy the parameters and buffers of another module into a module of the student's.

    Args:
        module: the student's.
        other: the module from which they are copied, most often the reference's; it must have the same names.
        what: the name of `module` in messages; "your `Net`" by default.

    Returns:
        `module`.

    Raises:
        CheckFailed: `module` is not a module, or its names or shapes differ from those of `other`.
    """
    theirs = other.state_dict()
    what = what or _module_name(module)
    assert_isinstance(module, torch.nn.Module, what)
    mine = _checked_tensors(module.state_dict(), say("the parameters and buffers of {}", what))
    shapes = {name: each.shape for name, each in theirs.items()}
    # Names of the other module do not stand in the check file, so a hidden check must not show them.
    _assert_named_shapes(mine, shapes, say("parameter or buffer"), what, named=False)
    module.load_state_dict(theirs)
    return module


def _module_name(module: Any) -> str:
    """Return the name of a student's module in messages, such as "your `Net`".

    An object that does not stay in the worker is "the module".
    """
    return say("your `{}`", shown_name(module)) if is_proxy(module) else say("the module")


def _assert_named_shapes(
    actual: Mapping[str, torch.Tensor], expected: Shapes, one: str, what: str, *, named: bool = True
) -> None:
    """Fail unless the tensors of a module have exactly the expected names and shapes.

    Args:
        actual: the student's parameters or buffers, by name.
        expected: the expected shapes, by name.
        one: the word for one of them in messages: "parameter" or "buffer".
        what: the name of the module in messages.
        named: True if the expected names stand in the check file, so that a hidden check may show them.
    """
    got = {name: show.shape(tensor) for name, tensor in actual.items()}
    wanted = {name: tuple(shape) for name, shape in expected.items()}
    for name, shape in wanted.items():
        if name not in got:
            text = say("{} lacks the {} `{}`", what, one, name)
            public = text if named else say("{} lacks a {} that is expected", what, one)
            raise CheckFailed(public, show.expected_and_got(f"{text} of shape {shape}", wanted, got))
    for name, shape in wanted.items():
        if got[name] != shape:
            text = say("the {} `{}` of {} has the wrong shape", one, name, what)
            public = text if named else say("a {} of {} has the wrong shape", one, what)
            raise unequal_failure(public, shape, got[name], "shape", head=text)
    if extra := [name for name in got if name not in wanted]:
        # Its name is the student's, who could choose one that reveals a hidden input.
        head = f"{what} has the {one} `{extra[0]}` of shape {got[extra[0]]}, which is not expected"
        public = say("{} has a {} that is not expected", what, one)
        raise CheckFailed(public, show.expected_and_got(head, wanted, got))


def _named_tensors(module: Any, kind: str, what: str) -> dict[str, torch.Tensor]:
    assert_isinstance(module, torch.nn.Module, what)
    return _checked_tensors(
        dict(iter(getattr(module, f"named_{kind}")())), say("the parameters or buffers of {}", what)
    )


def _checked_tensors(reply: Any, what: str) -> dict[str, torch.Tensor]:
    # A worker may answer anything.
    has_names = isinstance(reply, dict) and all(isinstance(key, str) for key in reply)
    if not has_names or not all(isinstance(each, torch.Tensor) for each in reply.values()):
        raise CheckFailed(say("{} could not be read", what))
    return dict(reply)
