"""What a call does as a whole: whether it raises, what it prints and warns of, its gradients, training, evaluation.

The built-in probes run in the worker, next to student code, so what they return is untrusted, like every result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch

from grader.check import show
from grader.check.properties import assert_isinstance, assert_tensor, assert_true
from grader.check.source import source_of
from grader.connection.connection import Proxy, connection_of, function_proxy, shown_name
from grader.connection.raised import error_text, note_expected_error, raised_by_student, shown_lines
from grader.connection.student import call_builtin_probe
from grader.model.endings import CheckFailed
from grader.model.public_text import Public, say
from grader.wire.call import copy_values


def raises(function: Proxy, *args: Any, error: type[Exception] = ValueError, case: str) -> None:
    """Fail unless a call raises an error of the class `error`, by default ValueError.

    If student code raises another error, the check crashes, and the message names both.

    Args:
        function: a function of the student's.
        *args: its arguments.
        error: the builtin error that is expected.
        case: the input that is refused, in words without hidden numbers, such as "an empty tensor".

    Raises:
        CheckFailed: the call raises nothing.
    """
    call = _call_text(function_proxy(function), args)
    try:
        actual = function(*args)
    except error as raised:
        if raised_by_student(raised) is None:
            raise
        return
    except Exception as raised:
        note_expected_error(raised, say("expected {} for {}", show.with_article(error.__name__), case))
        raise
    public = say("`{}` raised nothing for {}; expected {}", function, case, show.with_article(error.__name__))
    raise CheckFailed(public, f"{public}\nthe call  {call}\nreturned  {show.show(actual)}")


def assert_does_not_raise(function: Proxy, *args: Any, error: type[Exception] = ValueError, case: str) -> Any:
    """Fail if a call raises an error of the class `error`, by default ValueError.

    Args:
        function: a function of the student's.
        *args: its arguments.
        error: the builtin error by which the function could refuse its arguments.
        case: the input that the function must accept, in words without hidden numbers, such as "a matrix of small
            numbers".

    Returns:
        The result of the call.

    Raises:
        CheckFailed: the call raises the error.
    """
    call = _call_text(function_proxy(function), args)
    try:
        return function(*args)
    except error as raised:
        if (mine := raised_by_student(raised)) is None:
            raise
        public = say("`{}` raised {} for {}; expected a result", function, show.with_article(error.__name__), case)
        # With the line, which shows whether the words are the student's own.
        story = [public, f"the call  {call}", f"it raised {error_text(mine)}", *shown_lines(mine.lines)]
        raise CheckFailed(public, "\n".join(story)) from None


def assert_returns_bool(function: Proxy, *args: Any, expected: bool, case: str) -> None:
    """Fail unless a call returns the expected value, True or False, as a bool.

    Args:
        function: a function of the student's.
        *args: its arguments.
        expected: the value that it must return.
        case: the condition, in words without hidden numbers, such as "for an empty tensor".

    Raises:
        CheckFailed: the result is neither a Python bool nor a NumPy bool, or it is the other one.
    """
    actual = function_proxy(function)(*args)
    if not isinstance(actual, (bool, np.bool_)):
        public = say("`{}` returned {}; expected True or False", function, show.kind(actual, public=True))
        raise CheckFailed(
            public, f"`{shown_name(function)}` returned {show.kind(actual)}; expected True or False", "kind"
        )
    assert_true(
        bool(actual) == expected, say("`{}` returned {} {}; expected {}", function, bool(actual), case, expected)
    )


@contextmanager
def calling(function: Proxy, *args: Any) -> Iterator[Any]:
    """Call a function, and show the call in the message of a failure in the `with` block.

    Only shown checks and staff see the call.

    Args:
        function: a function of the student's.
        *args: its arguments.

    Yields:
        The result of the call.

    Raises:
        CheckFailed: the block fails; the message for shown checks and staff begins with the call.
    """
    call = _call_text(function_proxy(function), args)
    try:
        yield function(*args)
    except CheckFailed as failed:
        raise CheckFailed(failed.public, f"{call}\n{failed.story}") from None


def _call_text(function: Proxy, args: tuple[Any, ...]) -> str:
    return f"{shown_name(function)}({', '.join(show.show(arg) for arg in args)})"


_SILENCERS = ("catch_warnings", "simplefilter", "filterwarnings", "showwarning")


class Captured(NamedTuple):
    """The result of a call, what it printed, and its warnings.

    Attributes:
        result: the value that it returned.
        out, err: what it printed on standard output and standard error.
        warnings: category and text of each warning.
    """

    result: Any
    out: str
    err: str
    warnings: list[tuple[str, str]]


class Trained(NamedTuple):
    """What training steps returned, and what they changed in the model.

    Attributes:
        result: the value that the student's function returned, called last.
        before, after: the parameters of the model by name, before and after the steps.
        gradients: their gradients afterwards; None for a parameter without one.
    """

    result: Any
    before: dict[str, torch.Tensor]
    after: dict[str, torch.Tensor]
    gradients: dict[str, torch.Tensor | None]


class Evaluated(NamedTuple):
    """What an evaluation returned, and how it ran the model.

    Attributes:
        result: the value that the student's function returned.
        training: True if the model is in training mode afterwards.
        grad_enabled: True if a forward pass recorded gradients.
        in_training: True if a forward pass ran in training mode.
        unchanged: True if the model's state stayed as it was.
    """

    result: Any
    training: bool
    grad_enabled: bool
    in_training: bool
    unchanged: bool


def call_seeded(seed: int, function: Proxy, *args: Any, **kwargs: Any) -> Any:
    """Call a function after seeding the random generators that student code draws from.

    These are the generators of PyTorch, NumPy and Python.

    Args:
        seed: a whole number, the same for all generators.
        function: a function of the student's.
        *args: its arguments.
        **kwargs: its arguments by name.

    Returns:
        The result of the call.
    """
    return call_builtin_probe(function, "call_seeded", [seed, list(args), kwargs], args, kwargs)


def call_with_poisoned_memory(function: Proxy, *args: Any, **kwargs: Any) -> Any:
    """Call a function while PyTorch fills uninitialized memory with NaN.

    Integers are filled with the largest number of their dtype. A result that depends on uninitialized memory is wrong
    then: compare it.

    Args:
        function: a function of the student's.
        *args: its arguments.
        **kwargs: its arguments by name.

    Returns:
        The result of the call.
    """
    return call_builtin_probe(function, "call_with_poisoned_memory", [list(args), kwargs], args, kwargs)


def capture(function: Proxy, *args: Any, **kwargs: Any) -> Captured:
    """Call a function, and capture what it prints and its warnings.

    Args:
        function: a function of the student's.
        *args: its arguments.
        **kwargs: its arguments by name.

    Returns:
        The result, both streams of text, and the warnings. All of it is untrusted.

    Raises:
        CheckFailed: the worker's answer could not be read.
    """
    return _capture_call(function, args, kwargs)[0]


def _capture_call(function: Proxy, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Captured, bool]:
    # A worker may answer anything; an answer of another form fails.
    match call_builtin_probe(function, "capture", [list(args), kwargs], args, kwargs):
        case [result, str() as out, str() as err, list() as rows, bool() as still_show]:
            if all(isinstance(row, list) and len(row) == 2 for row in rows):
                return Captured(result, out, err, [(str(kind), str(text)) for kind, text in rows]), still_show
    raise CheckFailed(say("the output and the warnings of `{}` could not be read", function))


def assert_no_warnings(function: Proxy, *args: Any, **kwargs: Any) -> Any:
    """Fail if a call causes a warning, or if student code silences warnings.

    Args:
        function: a function of the student's.
        *args: its arguments.
        **kwargs: its arguments by name.

    Returns:
        The result of the call.

    Raises:
        CheckFailed: there is a warning, or the source of the submission or the call itself silences warnings.
    """
    call, still_show = _capture_call(function, args, kwargs)
    report(function, "warnings", len(call.warnings))
    text = "\n".join(f"{kind}: {text}" for kind, text in call.warnings)
    public = say("`{}` causes a warning", function)
    assert_true(not call.warnings, public, f"{public}\n{text}")
    silences = source_of(connection_of(function)).uses(_SILENCERS)
    assert_true(still_show and not silences, say("`{}` silences warnings; fix their cause", function))
    return call.result


def training_step(
    function: Proxy,
    batch: Sequence[Any],
    *,
    model: str = "nn.Linear(3, 1)",
    loss: str = "nn.MSELoss()",
    optimizer: str = "torch.optim.SGD(model.parameters(), lr=0.1)",
    steps: int = 2,
    seed: int = 0,
) -> Trained:
    """Call a training step on a model, a loss and an optimizer that the worker makes.

    A call is `function(model, loss, optimizer, *batch)`. Model, loss and optimizer cannot be made in a check, so they
    are expressions. With the same seed the reference gets the same model: compare `result` and `after`.

    Args:
        function: the student's step, or the reference's.
        batch: the arguments after the optimizer, usually inputs and targets.
        model: an expression that makes the model, with `torch` and `nn`.
        loss: an expression that makes the loss.
        optimizer: an expression that makes the optimizer of `model`.
        steps: the number of calls of the step; the second one shows gradients that the first one left.
        seed: the seed of the generators when the model is made.

    Returns:
        The last result, and the parameters and gradients by name, as detached tensors.

    Raises:
        CheckFailed: the worker's answer could not be read.
    """
    args = tuple(batch)
    answer = call_builtin_probe(function, "training_step", [list(args), model, loss, optimizer, steps, seed], args, {})
    match answer:
        case [result, dict() as before, dict() as after, dict() as gradients]:
            named = [*before.values(), *after.values(), *(each for each in gradients.values() if each is not None)]
            if all(isinstance(each, torch.Tensor) for each in named):
                return Trained(result, before, after, gradients)
    raise CheckFailed(say("the effect of `{}` on the model could not be read", function))


def evaluation(
    function: Proxy, data: Sequence[torch.Tensor], *, model: str = "nn.Linear(3, 1)", batch_size: int = 4, seed: int = 0
) -> Evaluated:
    """Call an evaluation on a model and a data loader that the worker makes.

    The call is `function(model, loader)`.

    Args:
        function: the student's evaluation, or the reference's.
        data: tensors with one row for each sample, such as inputs and targets; the loader iterates over their rows.
        model: an expression that makes the model, with `torch` and `nn`.
        batch_size: rows in a batch of the loader; let the last batch be smaller.
        seed: the seed of the generators when the model is made.

    Returns:
        The result, and in which modes the model ran.

    Raises:
        CheckFailed: the worker's answer could not be read.
    """
    args = tuple(data)
    match call_builtin_probe(function, "evaluation", [list(args), model, batch_size, seed], args, {}):
        case [result, bool(), bool(), bool(), bool()] as answer:
            return Evaluated(result, *answer[1:])
    raise CheckFailed(say("the effect of `{}` on the model could not be read", function))


def report(function: Proxy, name: str, number: int) -> None:
    """Add a count, such as "ops", to the report.

    The report keeps the largest count of each name in a check.

    Args:
        function: a function of the student's.
        name: the name of the count, such as "ops".
        number: the count of one call.
    """
    counters = connection_of(function).record.counters
    # A check may count several calls; the report has one number of each name.
    counters[name] = max(number, counters.get(name, 0))


# -- gradients -------------------------------------------------------------------------------------------------------

_NOT_RECORDED = say(
    " has no gradient: its numbers went through something that autograd does not record "
    "(a list, NumPy, .item(), .detach(), .data, torch.no_grad(), integers, a comparison)"
)
_IN_PLACE = say(
    " has no gradient: your code changes an argument that requires a gradient in place, which PyTorch forbids"
)
_OVERWRITTEN = say(" has no gradient: a value that the gradient needs was overwritten in place")
_BY_OUT = say(" has no gradient: it was written by `out=`, which autograd does not record")
_REFUSED = {
    "Can't call numpy() on Tensor that requires grad": _NOT_RECORDED,
    "leaf Variable that requires grad is being used in an in-place operation": _IN_PLACE,
    "modified by an inplace operation": _OVERWRITTEN,
    "arguments don't support automatic differentiation": _BY_OUT,
}
"""Parts of errors that PyTorch raises where it cannot compute a gradient, and what they mean."""

_EXACT = 1e-3
"""How exact, relative and absolute, the product of gradient and arguments is: float32 sums of some hundred numbers."""


def gradients(function: Proxy, *args: Any) -> list[torch.Tensor | None]:
    """Return the gradient of the sum of a call's result with respect to each argument.

    Args:
        function: a function of the student's, which returns a tensor.
        *args: its arguments. Floating-point and complex tensors require a gradient in the call.

    Returns:
        One entry for each argument: a tensor of its shape and dtype, or None if no gradient reaches it.

    Raises:
        CheckFailed: the result is not a tensor, autograd refuses, or the worker's answer could not be read.
    """
    try:
        answer = call_builtin_probe(function, "gradients", args, args, {})
    except RuntimeError as error:
        raised = raised_by_student(error)
        refused = next((why for text, why in _REFUSED.items() if raised is not None and text in raised.text), None)
        if refused is None:
            raise
        raise CheckFailed(say("{}{}", _result_name(function), refused)) from None
    # A worker may answer anything; the list must be one and have a place for each argument.
    match answer:
        case [result, list() as grads] if len(grads) == len(args):
            assert_tensor(result, _result_name(function))
            return grads
    raise CheckFailed(say("the gradients of `{}` could not be read", function))


def assert_keeps_graph(function: Proxy, *args: Any, degree: float | None = None) -> None:
    """Fail unless a gradient reaches an argument through a function.

    A computation with lists or NumPy loses the gradient.

    Args:
        function: a function of the student's, which returns a tensor.
        *args: its arguments.
        degree: the exponent d if the result grows by the factor c ** d where all tensor arguments grow by c, such as 2
            of a sum of squares. Then (gradient * x).sum() must be d times the result, within 0.1 %, which reveals a
            gradient that covers only a part of the computation. By default only the existence of a gradient is checked.

    Raises:
        CheckFailed: no gradient reaches any floating-point argument, or the gradient does not match the result.
    """
    # Without a floating-point argument there is no gradient to lose.
    needed = any(isinstance(arg, torch.Tensor) and arg.dtype.is_floating_point for arg in args)
    grads = gradients(function, *args)
    has_gradient = any(grad is not None for grad in grads)
    assert_true(not needed or has_gradient, say("{}{}", _result_name(function), _NOT_RECORDED))
    if degree is None:
        return
    result = function(*copy_values(*args))
    assert_tensor(result)
    products = [(grad.double() * arg.double()).sum() for grad, arg in zip(grads, args, strict=True) if grad is not None]
    expected, product = degree * float(result.detach().double().sum()), float(sum(products))
    public = say("the gradient does not match the result: autograd did not record a part of the computation")
    numbers = f"expected (gradient * x).sum() to be {degree:g} times the result ({expected:g}), got {product:g}"
    fits = math.isclose(expected, product, rel_tol=_EXACT, abs_tol=_EXACT)
    assert_true(fits, public, f"{public}\n{numbers}")


def assert_gradcheck(function: Proxy, *args: Any) -> None:
    """Fail unless the gradients agree with finite differences in float64.

    `torch.autograd.gradcheck` compares them. `assert_differentiable` fails as well if no gradient reaches an argument.

    Args:
        function: a function of the student's, which returns a tensor.
        *args: its arguments; few numbers, as each of them takes two calls.

    Raises:
        CheckFailed: a gradient is wrong.
    """
    difference = call_builtin_probe(function, "gradcheck", args, args, {})
    public = say("the gradient of `{}` is wrong", function)
    assert_true(difference == "", public, f"{public}\n{show.show(difference)}")


def _result_name(function: Proxy) -> Public:
    return say("the result of `{}`", function)


def assert_parameters_get_gradients(module: Any, *args: Any, what: str = "the module") -> None:
    """Fail unless every trainable parameter gets a gradient that is not all zeros.

    The gradient is that of the sum of the squares of the result.

    Args:
        module: the student's. Its gradients are those of this call afterwards.
        *args: the arguments of the module's call; best random numbers of several sizes.
        what: the module's name in messages.

    Raises:
        CheckFailed: it is not a module, has no trainable parameter, or one of them gets no gradient.
    """
    assert_isinstance(module, torch.nn.Module, what)
    match call_builtin_probe(module, "idle_parameters", [list(args)], args, {}):
        case [int(count), bool(has_gradient), list() as idle] if all(isinstance(name, str) for name in idle):
            assert_true(count, say("{} has no trainable parameter", what))
            assert_true(has_gradient, say("the result of {} has no gradient", what))
            public = say("a parameter of {} gets no gradient", what)
            assert_true(not idle, public, f"{public}: {', '.join(idle)}")
            return
    raise CheckFailed(say("the gradients of {} could not be read", what))
