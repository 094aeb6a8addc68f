"""Rules about which functions of packages may be used: only those on a list, or all except those on a list.

The source of the submission decides: all that the function leads to by name, with its helpers, whether it runs or not
(`source`). Python's operators are always allowed, except `@`, which is called "matmul".
"""

from __future__ import annotations

import difflib
import functools
import re
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

from grader.check.hidden_code import assert_no_hidden_code
from grader.check.names import object_at, words_of
from grader.check.source import Mention, source_of
from grader.connection.connection import Proxy, connection_of, is_proxy, proxy_of_name, shown_name, target_of
from grader.connection.raised import raised_by_student, shown_lines
from grader.connection.student import Student, connection_behind
from grader.model.endings import CheckFailed
from grader.model.public_text import say

_FREE = words_of(
    """shape size dim ndim ndimension numel nelement len stride storage_offset dtype device layout itemsize element_size
    nbytes requires_grad is_leaf grad_fn is_tensor is_contiguous is_floating_point is_complex is_signed is_sparse
    is_cuda Tensor Size finfo iinfo result_type promote_types can_cast get_default_dtype broadcast_shapes no_grad
    enable_grad inference_mode set_grad_enabled Module Parameter"""
)
"""What describes a tensor, and makes none: always allowed."""

_OF_PYTHON = frozenset(
    name for kind in (str, bytes, list, tuple, dict, set, int, float, complex, slice, range) for name in dir(kind)
)
"""Methods that Python's own values have as well: the text does not show whose is meant."""

_PLACES = (torch, torch.Tensor, torch.nn.functional, torch.linalg, torch.special, torch.fft, torch.nn)
_SPELLINGS = {
    **dict.fromkeys(("t", "T", "mT"), "transpose"),
    **dict.fromkeys(("H", "mH"), "adjoint"),
    **{name: name.removesuffix("_as") for name in ("view_as", "reshape_as", "expand_as")},
}
"""What PyTorch's documentation calls equivalent and no alias: properties, and methods that take another tensor's shape.

A rule about one of them is about all.
"""

_ALIAS = re.compile(r"\s*(?:\w+\([^\n]*\n\s*)?Alias (?:of|for) :\w+:`~?\.?(?:torch\.)?([\w.]+?)(?:\(\))?`")
Rule = str | Callable[..., Any]


def assert_uses_only(function: Proxy, *allowed: Rule) -> None:
    """Fail if a function uses anything of PyTorch or another package that is not allowed.

    Always allowed are Python itself with its operators and its standard library, helpers of the student's own that keep
    the same rule, and what only describes a tensor: its shape, dtype, device.

    Args:
        function: a function of the student's.
        *allowed: names such as "where", "matmul" or "numpy.prod", or functions such as torch.where. A name means the
            function, the method, its in-place form, and all that PyTorch calls its aliases or equivalent: "t" means
            `.T`, `.mT` and `transpose`, too. Without a name, only operators are allowed.

    Raises:
        CheckFailed: it uses something else, or its source could hide what it uses.
        ValueError: there is nothing of such a name.
    """
    names = {_canonical_name_of_rule(rule) for rule in allowed} | _FREE
    listed = f"allowed: {', '.join(map(_rule_text, allowed))}" if allowed else "only operators are allowed"
    for name, mention in _library_names_used(function):
        of_python = mention.name[1:] in _OF_PYTHON or name.split(".")[0] in sys.stdlib_module_names
        if name and name not in names and not of_python:
            raise _rule_failure(function, mention, f"uses `{mention.name}`, which the rule does not allow; {listed}")


def assert_does_not_use(function: Proxy, *left_out: Rule) -> None:
    """Fail if a function uses one of the functions `left_out`.

    Uses in helpers of the student's count, too.

    Args:
        function: a function of the student's.
        *left_out: names such as "reshape" or "numpy.outer", or functions such as torch.outer. A name means the
            function, the method, its in-place form, and all that PyTorch calls its aliases or equivalent.

    Raises:
        CheckFailed: the function uses one of them, or its source could hide what it uses.
        ValueError: there is nothing of such a name.
    """
    rules = {_canonical_name_of_rule(rule): _rule_text(rule) for rule in left_out}
    uses = list(_library_names_used(function))
    # With `n = np`, a method of n may be a function of NumPy's.
    packages = [name for name, _ in uses if name and isinstance(object_at(name), types.ModuleType)]
    for name, mention in uses:
        forms = [name, *(f"{package}{mention.name}" for package in packages if mention.name.startswith("."))]
        if name.startswith("_"):  # an operator that PyTorch's own functions call: `_reshape_alias`
            forms += name.split("_")
        if (rule := next((rules[form] for form in forms if form in rules), None)) is not None:
            same = mention.name.removeprefix("torch.").removeprefix(".") == rule
            also = "" if same else f" (`{mention.name}` is another name or form of it)"
            raise _rule_failure(function, mention, f"uses `{rule}`, which the rule forbids{also}")


def assert_does_not_import(student: Student, *packages: str) -> None:
    """Fail if the student's code imports and uses one of the packages.

    Code that could hide an import fails the check, too. An import counts where code that runs uses its name: when the
    file is imported, or in a function that checks call, with all that it leads to. Below `if __name__ == "__main__":`
    and `if TYPE_CHECKING:` nothing runs.

    Args:
        student: the fixture `student`.
        *packages: names such as "numpy".

    Raises:
        CheckFailed: it uses one, or its source could hide an import.
    """
    connection = connection_behind(student)
    for mention in source_of(connection).imports:
        if mention.name in packages:
            text = say("your file imports {}, which the rule forbids", mention.name)
            raise CheckFailed(text, f"{text} (line {mention.line})", from_text=True)
    # Only now: an import in plain sight says more than a word that could hide one.
    assert_no_hidden_code(proxy_of_name(connection, ""))


def assert_runs_without(function: Proxy | Student, *args: Any) -> None:
    """Fail if a function needs a package that `without` in exercise.yaml forbids.

    Workers of the exercise cannot import such a package, so a function that needs one raises an error. Other errors of
    the function, and its result, are for other checks.

    Args:
        function: a function of the student's; or `student`, for the statements at the top of the file.
        *args: the arguments of a call in which the function would need the package.

    Raises:
        CheckFailed: the function or the file needs a forbidden package.
        ValueError: the exercise forbids no package.
    """
    connection = connection_of(function) if is_proxy(function) else connection_behind(function)  # type: ignore[arg-type]
    if not connection.without:
        raise ValueError(
            "exercise.yaml has no `without`, so no package is forbidden; add `without`, or remove this check"
        )
    if not is_proxy(function):
        connection.names()  # loads the file
        for file, line, package in connection.left_out:
            text = say("your file uses {} when it is loaded, which this exercise forbids", package)
            raise CheckFailed(text, f"{text} ({file}, line {line})")
        return
    try:
        function(*args)  # type: ignore[operator]
    except Exception as error:
        raised = raised_by_student(error)
        if raised is None:  # a fault of the check's
            raise
        if raised.absent:
            public = say("`{}` needs {}, which this exercise forbids", function, raised.absent)
            lines = "\n".join(["", *shown_lines(raised.lines, connection.folder)])
            raise CheckFailed(public, f"{public}{lines}") from None


def _library_names_used(function: Proxy) -> Iterator[tuple[str, Mention]]:
    """Yield each use of a library's name in a function, with the one name for all its forms.

    For `x.add_(1)`, the pair is "add" and the mention of ".add_". "add", the canonical name, also stands for `x.add(1)`
    and `torch.add`; a rule names a function by it. It is "" if no rule can name the use, such as that of a builtin. The
    student's code that the function uses is searched, too.

    Args:
        function: a function of the student's.

    Raises:
        CheckFailed: the code could hide a name.
    """
    assert_no_hidden_code(function)
    source = source_of(connection_of(function))
    child = target_of(function).child
    for mention in source.mentions(str(child[2]) if child[0] == "name" else ""):
        yield _canonical_name_of_mention(mention, source.own), mention


def _rule_failure(function: Proxy, mention: Mention, why: str) -> CheckFailed:
    connection = connection_of(function)
    line = source_of(connection).quote(mention, connection.folder)
    # It follows from the text alone, so that a hidden check says it all.
    return CheckFailed(f"`{shown_name(function)}` {why}{line}", from_text=True)


def _canonical_name_of_mention(mention: Mention, own: set[str]) -> str:
    """Return the canonical name of the library's function that code mentions, or "".

    Return "" for a builtin, for what is not a function, and for an attribute that may be the student's own.

    Args:
        mention: the mention, such as that of ".add_", whose canonical name is "add".
        own: the names of attributes that the student's own classes and objects have: ".add_" may be one of these.
    """
    name = mention.name
    if name.startswith("."):
        doubtful = name[1:] in own or not _is_of_torch(name[1:])
        return _canonical_name(name[1:]) if not doubtful or name == ".__matmul__" else ""
    if name.split(".")[0] != "torch":
        return name.removesuffix(".__call__") if not name.startswith("builtins.") else ""
    value = object_at(name)
    if not callable(value) or isinstance(value, (torch.dtype, types.ModuleType)):
        return ""
    return _canonical_name(next(part for part in reversed(name.split(".")) if not part.startswith("__")))


def _canonical_name_of_rule(rule: Rule) -> str:
    """Return the canonical name of the function in a rule, such as "add" for "add_".

    Raises:
        ValueError: there is nothing of that name.
    """
    if not isinstance(rule, str):
        home = (getattr(rule, "__module__", None) or "torch").split(".")[0]
        return _canonical_name(rule.__name__) if home == "torch" else f"{home}.{rule.__name__}"
    last = rule.split(".")[-1]
    if last != rule and not rule.startswith("torch."):
        return rule
    if _is_of_torch(last) or hasattr(torch.Tensor, last):
        return _canonical_name(last)
    near = difflib.get_close_matches(last, [known for place in _PLACES for known in dir(place)], n=1)
    raise ValueError(f"PyTorch has no `{last}`" + (f"; did you mean {near[0]}?" if near else ""))


def _rule_text(rule: Rule) -> str:
    """Return a rule as messages show it: the name that the check file contains."""
    return rule if isinstance(rule, str) else rule.__name__


def _canonical_name(name: str) -> str:
    """Return one name for all forms of a PyTorch function: "add" for `add_` and `__radd__`.

    `__rmatmul__` becomes "matmul", and an alias becomes the name that it stands for.
    """
    if name.startswith("__"):
        name = name.strip("_")
        name = name[1:] if name[:1] in ("r", "i") and hasattr(torch.Tensor, f"__{name[1:]}__") else name
    elif not name.startswith("_"):
        name = name.removesuffix("_")
    name = _SPELLINGS.get(name, name)
    return _aliases().get(name, name)


@functools.cache
def _aliases() -> dict[str, str]:
    """Return a dict from the name of each alias in PyTorch to the name of its function.

    "absolute" stands for "abs". The documentation of an alias names the function.
    """
    aliases = {}
    for place in (torch, torch.linalg, torch.special, torch.Tensor):
        for name, value in vars(place).items():
            alias = _ALIAS.match(str(getattr(value, "__doc__", None) or "")) if callable(value) else None
            if alias and not name.startswith("_"):
                aliases[name] = alias[1].split(".")[-1]
    return aliases


@functools.cache
def _is_of_torch(name: str) -> bool:
    """Return whether PyTorch has a function, method, property or class of this name."""
    return any(name in vars(place) or name in vars(getattr(place, "__base__", place)) for place in _PLACES)
