"""What a hidden check may say: only words that are known before any submission is.

A public text is a template of ours with words (`model.public`), or a text of the check's author. Each word must belong
to a closed set, or stand in the check's own file, as a literal or as an f-string whose fields hold such words. Whatever
student code answers, it can only choose which of these few texts is shown.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Sequence

from grader.check import show
from grader.check.costs import ESCAPES
from grader.check.text import words_of
from grader.model import Limits
from grader.model.public import Key, Limit, Public
from grader.wire.plain import DTYPES

ERRORS = words_of(
    """ArithmeticError AssertionError AttributeError BufferError EOFError ImportError IndexError KeyError
    KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError NotImplementedError OSError OverflowError
    PermissionError RecursionError RuntimeError StopIteration TypeError UnboundLocalError UnicodeError ValueError
    ZeroDivisionError"""
)
"""Errors that a hidden check names."""

_CLOSED = {
    *DTYPES,
    *(f"torch.{name}" for name in DTYPES),
    *(form for place in show.DEVICES for form in (place, repr(place), f"device(type={place!r})")),
    *(*show.TYPES, *show.KINDS),
    *(form for name in ERRORS for form in (name, show.with_article(name))),
    *("", "True", "False", "None", "the result", "the argument", "the module", "another dtype", "another device"),
    *("an exception of another kind", "your file", "the reference", *ESCAPES, "other"),
}
"""Words that every hidden check may show."""

_OWNED = re.compile(r"(?:your|the reference's|the probe) (?:`([\w.]+)`(?: object)?|(\w+)\.py)")
_WITH_ARTICLE = re.compile(r"an? ([A-Za-z_]\w*)")
_ITEM = re.compile(r"(.+)\[([0-3]|'(?:\w+)')\]|item ([0-3]|'(?:\w+)') of (.+)")
_ALLOWED = "the allowed number of"
_LONGEST_FIELD = 120
_DEPTH = 2


_ERROR_TEXTS = """
Boolean value of Tensor with more than one value is ambiguous
Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.
Could not infer dtype of *
Dimension out of range (expected to be in range of #, but got #)
Expected all tensors to be on the same device, but found at least two devices, * and *!
Expected all tensors to be on the same device, but got * is on *, different from other tensors on *
Expected input batch_size (#) to match target batch_size (#).
Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor
Size does not match at dimension # expected index # to be no larger than self # apart from dimension #
Sizes of tensors must match except in dimension #. Expected size # but got size # for tensor number # in the list.
The expanded size of the tensor (#) must match the existing size (#) at non-singleton dimension #. \
 Target sizes: #.  Tensor sizes: #
The size of tensor a (#) must match the size of tensor b (#) at non-singleton dimension #
a Tensor with # elements cannot be converted to Scalar
a leaf Variable that requires grad is being used in an in-place operation.
a view of a leaf Variable that requires grad is being used in an in-place operation.
can only concatenate * (not "*") to *
can't convert * device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.
cannot access local variable '@' where it is not associated with a value
cannot reshape array of size # into shape #
cannot unpack non-iterable * object
division by zero
element # of tensors does not require grad and does not have a grad_fn
expected m1 and m2 to have the same dtype, but got: * != *
expected np.ndarray (got *)
expected sequence of length # at dim # (got #)
grad can be implicitly created only for scalar outputs
index # is out of bounds for axis # with size #
index # is out of bounds for dimension # with size #
index out of range in self
indices should be either on * or on the same device as the indexed tensor (*)
linalg.inv: The diagonal element # is zero, the inversion could not be completed because the input matrix is singular.
iteration over a 0-d tensor
list index out of range
mat1 and mat2 must have the same dtype, but got * and *
mat1 and mat2 shapes cannot be multiplied (# and #)
maximum recursion depth exceeded
mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: *
module '*' has no attribute '@'
name '@' is not defined
not enough values to unpack (expected #, got #)
object of type '*' has no len()
one of the variables needed for gradient computation has been modified by an inplace operation
only one element tensors can be converted to Python scalars
operands could not be broadcast together with shapes # #
result type * can't be cast to the desired output type *
setStorage: sizes #, strides #, storage offset #, and itemsize # requiring a storage size of # are out of bounds for \
storage of size #
shape '#' is invalid for input of size #
size mismatch, got input #, mat #, vec #
stack expects each tensor to be equal size, but got # at entry # and # at entry #
stack expects a non-empty TensorList
step must be greater than zero
string index out of range
tensors used as indices must be long, int, byte or bool tensors
torch.cat(): expected a non-empty list of Tensors
torch.linalg.solve: The solver failed because the input matrix is singular.
too many indices for tensor of dimension #
too many values to unpack (expected #)
tuple index out of range
unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. \
Please clone() the tensor before performing the operation.
unsupported operand type(s) for *: '*' and '*'
view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous \
subspaces). Use .reshape(...) instead.
'*' object cannot be interpreted as an integer
'*' object does not support item assignment
'*' object has no attribute '@'
'*' object is not callable
'*' object is not iterable
'*' object is not subscriptable
*() got an unexpected keyword argument '@'
*() missing # required positional argument: '*'
*() missing # required positional arguments: "*"
*() takes # positional arguments but # were given
*() arg is an empty sequence
* only supports boolean masks, but got mask with dtype *
*(): Expected dtype int32/int64 for index
*(): argument '*' (position #) must be *, not *
"""
"""Texts of errors that a hidden check shows: `#` is a number or several, which it leaves out; `*` is a word, which it
shows if it is one of `_TYPES`, one at most; `@` is a name, which it shows if it stands in the student's line."""

_TYPES = ("Tensor", "NoneType", "int", "float", "list", "tuple", "function", "torch")
_MOST_NAMES = 12
"""A line with more names could tell a hidden number by the one that stands in the text."""

_MARKS = re.compile(r"[*@]")
_PARTS = {
    r"\#": r"(?:\(?-?\d+(?:x\d+)*\)?|[\[(][-\d, ]*[\])])",
    r"\*": r"([\w.:]+(?: int| char)?|[-+*/@%&|^<>=]+)",
    "@": r"(\w+)",
}
_NO_MARK = re.compile(r"(?:name|variable|attribute|argument) '\w+'|reshape\(\.\.\.\)")
_MORE = re.compile(r"\. Did you mean: '\w+'\?$| \(when checking argument in method \w+\)$")


def known_error(text: str, line: str) -> str:
    """The text of an exception as a hidden check shows it; "" if it is not a known one.

    Student code may raise any exception with any text, so there are few texts to choose from.

    Args:
        text: of the exception, from the worker.
        line: of the student's file, which is shown below it.
    """
    names = set(re.findall(r"\w+", line))
    names = names if len(names) <= _MOST_NAMES else set()
    for template, pattern in _error_patterns():
        if match := pattern.fullmatch(_MORE.sub("", text.strip())):
            kinds = list(_TYPES)
            words = []
            for mark, word in zip(_MARKS.findall(template), match.groups(), strict=True):
                known = word in (names if mark == "@" else kinds)
                kinds = [] if known and mark == "*" else kinds
                words.append(word if known else "...")
            first, *rest = _MARKS.split(template.replace("#", "N"))
            return first + "".join(map("".join, zip(words, rest, strict=True)))
    return ""


def left_out(known: str) -> list[str]:
    """The line that explains the marks in a known error of a hidden check; none if it has none."""
    text = _NO_MARK.sub("", known)
    number, word = re.search(r"(?<!\w)N(?!\w)", text) is not None, "..." in text
    line = {
        (True, True): "(N and ... stand for numbers and words that a hidden check leaves out)",
        (True, False): "(N stands for numbers that a hidden check leaves out)",
        (False, True): "(... stands for a word that a hidden check leaves out)",
    }.get((number, word))
    return [line] if line else []


@functools.cache
def _error_patterns() -> Sequence[tuple[str, re.Pattern[str]]]:
    templates = _ERROR_TEXTS.strip().split("\n")
    marks = re.compile("|".join(map(re.escape, _PARTS)))
    return [(each, re.compile(marks.sub(lambda mark: _PARTS[mark[0]], re.escape(each)))) for each in templates]


class Words:
    """What the checks of a file may say of hidden inputs.

    Args:
        texts: of the check file and of probe files.
        names: further names that are known beforehand, such as the exercise's id.
        limits: of the exercise.
    """

    def __init__(self, texts: Sequence[str], names: Iterable[str] = (), limits: Limits | None = None) -> None:
        trees = [ast.parse(text) for text in texts]
        nodes = [node for tree in trees for node in ast.walk(tree)]
        values = [node.value for node in nodes if isinstance(node, ast.Constant)]
        self._literals = {value for value in values if isinstance(value, str)}
        self._keys = {Key(value) for value in values}
        # An assertion of a probe is shown as its line.
        self._literals |= {line.strip() for text in texts for line in text.splitlines() if "assert " in line}
        self._numbers = {form for value in values if isinstance(value, (int, float)) for form in _written(value)}
        if limits is not None:
            known = (*vars(limits).values(), limits.output_kb / 1024)
            self._numbers |= {form for value in known for form in _written(value)}
        self._names = {*names, *(text for text in self._literals if text.isidentifier())}
        self._names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        self._names |= {node.id for node in nodes if isinstance(node, ast.Name)}
        self._forms = [_form(node) for node in nodes if isinstance(node, ast.JoinedStr)]

    def shown(self, text: str) -> str | None:
        """The text as a student may read it; None if a word of it is not known beforehand."""
        if not isinstance(text, Public):
            return text if self._knows(text) else None
        words = [self._word(word) for word in text.words]
        return None if None in words else text.template.format(*words)

    def _word(self, word: str) -> str | None:
        # A limit, or a key, that a check computed from its inputs could reveal them.
        if isinstance(word, Limit):
            return str(word) if str(word) in self._numbers else _ALLOWED
        if isinstance(word, Key):
            return str(word) if str(word) in self._keys else "a key"
        return self.shown(word)

    def _knows(self, text: str, depth: int = 0) -> bool:
        if text in _CLOSED or text in self._literals:
            return True
        if owned := _OWNED.fullmatch(text):
            return all(part in self._names for part in (owned[1] or owned[2]).split("."))
        if text in self._names or ((kind := _WITH_ARTICLE.fullmatch(text)) and kind[1] in self._names):
            return True
        if item := _ITEM.fullmatch(text):
            key, whole = item[2] or item[3], item[1] or item[4]
            known = key.isdigit() or key.strip("'") in self._literals
            return known and self._knows(whole, depth)
        if depth == _DEPTH:
            return False
        fits = filter(None, (form.fullmatch(text) for form in self._forms))
        return any(all(self._knows(field, depth + 1) for field in match.groups()) for match in fits)


def _form(node: ast.JoinedStr) -> re.Pattern[str]:
    """The pattern of an f-string, with a group for each field."""
    parts = []
    for part in node.values:
        match part:
            case ast.Constant(value=str(text)):
                parts.append(re.escape(text))
            case _:
                parts.append(rf"(.{{0,{_LONGEST_FIELD}}}?)")
    return re.compile("".join(parts), re.DOTALL)


def _written(value: float | int | None) -> set[str]:
    """A number as a limit is written."""
    return set() if value is None or isinstance(value, bool) else {f"{value:,}", f"{value:g}", str(value)}
