"""Test classes of `unittest`, and asserts of nose, in the words of pytest: `assert`, `pytest.raises`."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Collection, Iterator, Sequence

from grader.author.port.text import Edits, indent_block
from grader.lint.scope import CheckSource, Function, parameters

_COMPARED: dict[str, ast.cmpop] = {
    **dict.fromkeys(("Equal", "Equals", "ListEqual", "TupleEqual", "DictEqual", "SetEqual"), ast.Eq()),
    **dict.fromkeys(("SequenceEqual", "MultiLineEqual"), ast.Eq()),
    **dict.fromkeys(("NotEqual", "NotEquals"), ast.NotEq()),
    "Is": ast.Is(),
    "IsNot": ast.IsNot(),
    "In": ast.In(),
    "NotIn": ast.NotIn(),
    "Greater": ast.Gt(),
    "GreaterEqual": ast.GtE(),
    "Less": ast.Lt(),
    "LessEqual": ast.LtE(),
}
_SHORT = {"eq_": "Equal", "ok_": "True"}
_RAISES = {"Raises": "pytest.raises", "Warns": "pytest.warns"}
_SETUPS = ("setUpClass", "setup_class", "setUp", "setup_method")
_PLACES = 7
"""Decimal places that `assertAlmostEqual` compares, where it is not told how many."""


def convert_to_pytest(text: str) -> str:
    """Return a test file with the asserts of `unittest` and nose in pytest's form.

    `self.assertEqual(f(1), 2)` becomes `assert f(1) == 2`. The code of `setUp` is put into each test. An assert without
    a form in pytest stays, and is reported as unknown in a check file.

    Args:
        text: the text of a file of tests.

    Raises:
        SyntaxError: it is not Python.
    """
    text = _with_setups(text)
    tree = ast.parse(text)
    source, edits = CheckSource(tree), Edits(text)
    self_names = {id(node): owner for owner, method in _methods(tree) for node in ast.walk(method)}
    caught = {
        name for node in source.nodes if isinstance(node, ast.With) for name in _names_of_errors(node, self_names)
    }
    used = list[str]()
    for node in source.nodes:
        match node:
            case ast.ImportFrom(module="nose.tools"):
                is_alone = any(getattr(one, "body", None) == [node] for one in source.nodes)
                edits.replace(node, "pass") if is_alone else edits.drop(node)
            case ast.Expr(value=ast.Call() as call) if plain := _as_assert(
                _assert_name(call, self_names, source), call, caught
            ):
                edits.replace(node, ast.unparse(plain))
                used.append(ast.unparse(plain))
            case ast.Expr(value=ast.Call() as call) if inside := _called_inside(call, self_names, source):
                if not edits.text_before(node).strip():
                    edits.replace(node, f"{inside[0]}\n{' ' * (node.col_offset + 4)}{inside[1]}")
                    used.append(inside[0])
            case ast.Call() if (name := _assert_name(node, self_names, source)) in _RAISES:
                edits.replace(node.func, _RAISES[name])
                used.append(_RAISES[name])
            case ast.Attribute(value=ast.Name(id=name), attr="exception") if name in caught:
                edits.replace(node, f"{name}.value")
    needed = [
        name for name in ("pytest", "re") if re.search(rf"\b{name}\.", "\n".join(used)) and not _imports(tree, name)
    ]
    first = next((one for one in tree.body if not must_be_first(one)), None)
    if needed and first is not None:
        edits.insert_above(first, "".join(f"import {name}\n" for name in needed))
    return edits.result()


def _called_inside(call: ast.Call, self_names: dict[int, str], source: CheckSource) -> tuple[str, str] | None:
    """Return the lines of a `with` block that replaces a call of `assertRaises`.

    For `assertRaises(ValueError, f, 1)` they are "with pytest.raises(ValueError):" and "f(1)", so that the call of `f`
    is one of student code. Return None for any other call.
    """
    name = _assert_name(call, self_names, source)
    function = _RAISES.get(name) or (source.import_path(call) if source.import_path(call) in _RAISES.values() else "")
    match call.args:
        case [error, ast.Lambda(body=body)]:
            inside = ast.unparse(body)
        case [error, ast.Name() | ast.Attribute() as called, *args]:
            inside = ast.unparse(ast.Call(called, args, call.keywords))
        case _:
            return None
    return (f"with {function}({ast.unparse(error)}):", inside) if function else None


def _imports(tree: ast.Module, name: str) -> bool:
    return any(one.name == name for node in tree.body if isinstance(node, ast.Import) for one in node.names)


def must_be_first(node: ast.stmt) -> bool:
    """Return whether a statement must come first in a file: a docstring, or an import of `__future__`."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _methods(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield the methods of classes, each with the name of its first parameter."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            methods = (one for one in node.body if isinstance(one, Function))
            yield from ((parameters(one)[0], one) for one in methods if parameters(one))


def _assert_name(call: ast.Call, self_names: dict[int, str], source: CheckSource) -> str:
    """Return the name of a `unittest` or nose assert; "" for any other call.

    It is "Equal" for `self.assertEqual(1, 2)`, and for nose's `assert_equal(1, 2)`.

    Args:
        call: the call.
        self_names: the name of a method's first parameter, such as "self", by the `id` of each node in the method.
        source: the file of the call.
    """
    match call.func:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == self_names.get(id(call)):
            return attribute.removeprefix("assert") if attribute.startswith("assert") else ""
    module, _, name = source.import_path(call).rpartition(".")
    if module != "nose.tools":
        return ""
    return _SHORT.get(name) or "".join(part.capitalize() for part in name.removeprefix("assert_").split("_"))


def _names_of_errors(node: ast.With, self_names: dict[int, str]) -> Iterator[str]:
    """Yield the names that `with self.assertRaises(...) as NAME` binds to expected errors.

    Args:
        node: the `with` statement.
        self_names: the name of a method's first parameter, such as "self", by the `id` of each node in the method.
    """
    for item in node.items:
        match item:
            case ast.withitem(
                context_expr=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=attribute)) as call,
                optional_vars=ast.Name(id=name),
            ) if owner == self_names.get(id(call)) and attribute.removeprefix("assert") in _RAISES:
                yield name


class _ErrorRenamer(ast.NodeTransformer):
    """Renames `caught.exception` of `unittest` to `caught.value`, as pytest has it."""

    def __init__(self, caught: Collection[str]) -> None:
        self._caught = caught

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Rename the attribute `exception` of a caught error to `value`."""
        self.generic_visit(node)
        if node.attr == "exception" and isinstance(node.value, ast.Name) and node.value.id in self._caught:
            node.attr = "value"
        return node


def _as_assert(name: str, call: ast.Call, caught: Collection[str]) -> ast.Assert | None:
    """Return a `unittest` assert as an `assert` statement; None if it has no such form.

    `self.assertIn(1, x)` becomes `assert 1 in x`.

    Args:
        name: the name of the assert, such as "Equal".
        call: the call that makes it.
        caught: the names that `with self.assertRaises(...) as NAME` binds to expected errors.
    """
    call = _ErrorRenamer(caught).visit(copy.deepcopy(call))
    words = {word.arg: word.value for word in call.keywords}
    message = words.pop("msg", None)
    match name, call.args:
        case _, [first, second, *rest] if name in _COMPARED:
            test: ast.expr = ast.Compare(first, [_COMPARED[name]], [second])
        case (("True" | "IsNotNone" | "False" | "IsNone"), [first, *rest]):
            test = {
                "True": first,
                "False": ast.UnaryOp(ast.Not(), first),
                "IsNone": ast.Compare(first, [ast.Is()], [ast.Constant(None)]),
                "IsNotNone": ast.Compare(first, [ast.IsNot()], [ast.Constant(None)]),
            }[name]
        case (("IsInstance" | "NotIsInstance" | "IsNotInstance"), [first, second, *rest]):
            test = _call_of("isinstance", first, second)
            test = test if name == "IsInstance" else ast.UnaryOp(ast.Not(), test)
        case (("Regex" | "RegexpMatches"), [first, second, *rest]):
            test = _call_of("re.search", second, first)
        case (("CountEqual" | "ItemsEqual"), [first, second, *rest]):
            test = ast.Compare(_call_of("sorted", first), [ast.Eq()], [_call_of("sorted", second)])
        case (("AlmostEqual" | "AlmostEquals"), [first, second, *rest]):
            places = words.pop("places", None) or (rest.pop(0) if rest else ast.Constant(_PLACES))
            near = words.pop("delta", None)
            if near is None and not isinstance(places, ast.Constant):
                return None
            near = near or ast.parse(f"0.5e-{ast.unparse(places)}", mode="eval").body
            approx = _call_of("pytest.approx", second, rel=ast.Constant(0), abs=near)
            test = ast.Compare(first, [ast.Eq()], [approx])
        case _:
            return None
    if words or len(rest) > 1:
        return None
    return ast.fix_missing_locations(ast.Assert(test, message or (rest[0] if rest else None)))


def _call_of(function: str, *args: ast.expr, **words: ast.expr) -> ast.expr:
    return ast.Call(ast.parse(function, mode="eval").body, [*args], [ast.keyword(*word) for word in words.items()])


def _with_setups(text: str) -> str:
    """Return a test file in which each test method begins with the code of `setUp`.

    What `setUp` stores as an attribute of `self` becomes a local variable of the test: `self.x = 1` becomes `x = 1`. A
    class stays as it is if one of its methods already has a variable with the name of such an attribute.
    """
    tree, edits = ast.parse(text), Edits(text)
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        methods = {one.name: one for one in node.body if isinstance(one, Function) and parameters(one)}
        setups = [methods[name] for name in _SETUPS if name in methods]
        prepared = {
            one.attr for setup in setups for one in _attributes_of_self(setup) if isinstance(one.ctx, ast.Store)
        }
        others = [one for one in methods.values() if one not in setups]
        if not setups or any(prepared & _own_names(one) for one in methods.values()):
            continue  # a test has a variable of such a name
        for setup in setups:
            edits.drop(setup)
            for decorator in setup.decorator_list:
                edits.drop(decorator)
        for one in (each for method in others for each in _attributes_of_self(method)):
            if one.attr in prepared:
                edits.replace(one, one.attr)
        for method in (one for one in others if one.name.startswith("test")):
            first = next((one for one in method.body if not must_be_first(one)), None)
            if first is not None:
                edits.insert_above(first, "".join(_setup_code(text, setup, first.col_offset) for setup in setups))
    return edits.result()


def _setup_code(text: str, setup: Function, column: int) -> str:
    """Return the statements of a `setUp`, indented to a column.

    Attributes of `self` become variables with the same names.
    """
    body: Sequence[ast.stmt] = [one for one in setup.body if not must_be_first(one)]
    if not body:
        return ""
    edits = Edits(text)
    for one in _attributes_of_self(setup):
        edits.replace(one, one.attr)
    return indent_block(edits.result(body), column - body[0].col_offset)


def _attributes_of_self(method: Function) -> Iterator[ast.Attribute]:
    """Yield the nodes in a method that are attributes of `self`, except the asserts of `unittest`."""
    owner = parameters(method)[0]
    for one in ast.walk(method):
        match one:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == owner:
                if not attribute.startswith("assert"):
                    yield one


def _own_names(method: Function) -> set[str]:
    names = {one.id for one in ast.walk(method) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return names | set(parameters(method))
