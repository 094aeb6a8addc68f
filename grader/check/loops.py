"""Loops in the source of a submission: in a function, and in the student's functions that it uses.

A statement, a comprehension, `map`, a recursion and `np.vectorize` are loops wherever they stand, whether that line
is reached or not, and over anything that they go over. `assert_no_loop` measures instead.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from grader.check.hidden_code import assert_no_hidden_code
from grader.check.names import Imports, free_names, paths_in
from grader.check.source import Mention, SubmittedSource, source_of
from grader.connection.connection import Proxy, connection_of, shown_name, target_of
from grader.model.endings import CheckFailed
from grader.model.public_text import Public, say

_STATEMENTS: Mapping[type[ast.AST], str] = {
    ast.For: "for",
    ast.AsyncFor: "for",
    ast.While: "while",
    ast.ListComp: "comprehension",
    ast.SetComp: "comprehension",
    ast.DictComp: "comprehension",
    ast.GeneratorExp: "comprehension",
}

_CALLED = {
    "builtins.map": "map",
    "builtins.filter": "filter",
    "functools.reduce": "functools.reduce",
    **{
        f"itertools.{name}": f"itertools.{name}"
        for name in ("accumulate", "dropwhile", "filterfalse", "groupby", "starmap", "takewhile")
    },
    "numpy.vectorize": "numpy.vectorize",
    "numpy.frompyfunc": "numpy.frompyfunc",
    "numpy.apply_along_axis": "numpy.apply_along_axis",
    "numpy.apply_over_axes": "numpy.apply_over_axes",
    "numpy.fromiter": "numpy.fromiter",
    ".apply_": "apply_",
    ".map_": "map_",
}
"""What calls a function of Python's for each item, by the path that code mentions."""

_OVER_ROWS = {
    "sum": say("Python's `sum` iterates over the rows of a tensor; use `torch.sum`"),
    "max": say("Python's `max` iterates over the rows of a tensor; use `torch.max`"),
    "min": say("Python's `min` iterates over the rows of a tensor; use `torch.min`"),
    "all": say("Python's `all` iterates over the rows of a tensor; use `torch.all`"),
    "any": say("Python's `any` iterates over the rows of a tensor; use `torch.any`"),
    "sorted": say("Python's `sorted` iterates over the rows of a tensor; use `torch.sort`"),
    "math.prod": say("`math.prod` iterates over the rows of a tensor; use `torch.prod`"),
    "math.fsum": say("`math.fsum` iterates over the rows of a tensor; use `torch.sum`"),
}
"""Functions of Python's that are loops over the rows of a tensor, where they get one argument."""

_SAID = {
    "for": say("a `for` statement"),
    "while": say("a `while` statement"),
    "comprehension": say("a comprehension"),
    "recursion": say("a function that calls itself"),
    "iter": say("`iter` with two arguments, which calls a function again and again"),
    **{name: say("`{}`, which calls a function for each item", name) for name in _CALLED.values()},
    **_OVER_ROWS,
}
LOOPS = frozenset(_SAID)
"""The names of loops, as `allow` takes them."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OF_SIZES = ("size", "stride")
_PASSES_ON = ("list", "tuple", "set", "sorted", "reversed", "enumerate", "zip")
_PLAIN_NOTES = frozenset({"list", "tuple", "set", "frozenset", "dict", "List", "Tuple", "Sequence", "Iterable", "Size"})


class _Scope(NamedTuple):
    """The nodes of an outermost function, and which of its parameters cannot be tensors.

    Attributes:
        nodes: all of its nodes, its parameters first.
        surely_no_tensor: the parameters by the `id` of their nodes: True if one is surely a list, a size or the like.
    """

    nodes: Sequence[ast.AST]
    surely_no_tensor: Mapping[int, bool]


def assert_no_loop_in_source(function: Proxy, *args: Any, most: int = 0, allow: Collection[str] = ()) -> None:
    """Fail if the source of a function has more than `most` loops.

    "No explicit loop" means that in most tasks. The student's functions that it uses count, too. Code outside of
    functions and lambdas cannot depend on an argument, and does not count.

    Loops are `for` and `while`, also over dims; comprehensions and generator expressions; a function that calls itself;
    `map`, `filter`, `functools.reduce`, `itertools.starmap` and its like; `iter` with two arguments; `np.vectorize` and
    its like; and `apply_` and `map_` of a tensor.

    `sum`, `max`, `min`, `all`, `any`, `sorted`, `math.prod` and `math.fsum` of Python with one argument are loops, too,
    unless the source shows that the argument is not a tensor: `x.shape`, a list, a parameter annotated as `list`, also
    in the reference, or a parameter of a helper that gets a list in each call.

    Args:
        function: a function or a class of the student's.
        args: arguments of a call, such as one of another check. Nothing is called: `max(x)` is a loop where x is a
            tensor here, and none where x is a list.
        most: the number of loops that may be written, such as 1 for a task that asks for one loop.
        allow: names of loops that do not count: "for", "while", "comprehension", "recursion", or the name of what is
            called, such as "map", "sum" or "numpy.vectorize".

    Raises:
        CheckFailed: more loops are written, or the source could hide some.
        ValueError: there is no loop of such a name.
    """
    if unknown := sorted(set(allow) - LOOPS):
        raise ValueError(f"unknown loop {', '.join(unknown)}; the loops are {', '.join(sorted(LOOPS))}")
    assert_no_hidden_code(function)
    source = source_of(connection_of(function))
    child = target_of(function).child
    name = str(child[2]) if child[0] == "name" else ""
    surely_no_tensor = _parameters_not_tensors(function, name, args)
    loops = [each for each in loops_of(source, name, surely_no_tensor) if each.name not in allow]
    if len(loops) > most:
        contains = "more loops than the rule allows" if most else "a loop"
        line = source.quote(loops[most], connection_of(function).folder)
        said = f"`{shown_name(function)}` contains {contains}: {_SAID[loops[most].name]}{line}"
        raise CheckFailed(said, from_text=True)


def rows_hint(function: Proxy, args: Sequence[Any]) -> Public | None:
    """Return a hint on a builtin such as `sum` that iterates over a tensor's rows, or None.

    For `sum` it is "Python's `sum` iterates over the rows of a tensor; use `torch.sum`". Return None if the function
    calls no such builtin.

    Args:
        function: a function of the student's.
        args: the arguments of a call.
    """
    child = target_of(function).child
    name = str(child[2]) if child[0] == "name" else ""
    loops = loops_of(source_of(connection_of(function)), name, _parameters_not_tensors(function, name, args))
    return next((_OVER_ROWS[each.name] for each in loops if each.name in _OVER_ROWS), None)


def loops_of(
    source: SubmittedSource, function: str, surely_no_tensor: Mapping[int, bool] | None = None
) -> list[Mention]:
    """Return the loops in a function and in the student's functions that it uses.

    They are in the order of their lines, such as `[Mention("sum", "double.py", 3), Mention("for", "double.py", 5)]`.

    Args:
        source: the source of the submission.
        function: the name of the function; "" for all functions of its files.
        surely_no_tensor: for parameters of the function, by the `id` of their syntax nodes, True if one is surely not a
            tensor: `sum(sizes)` is not a loop if `sizes` is surely a list. None if nothing is known.
    """
    statements = list(source.reachable_statements(function))
    whole = surely_no_tensor or {}
    if function:
        whole = _with_helper_parameters([node for _, node in statements], function, whole)
    loops = {each: None for file, node in statements for each in _loops_in(file, node, source, whole)}
    loops |= dict.fromkeys(_recursive_functions(statements))
    return sorted(loops, key=lambda each: (each.file, each.line))


def _parameters_not_tensors(function: Proxy, name: str, args: Sequence[Any]) -> dict[int, bool]:
    """Return whether each parameter is surely not a tensor, by the `id` of its node.

    For a call `f(tensor, [2, 3])` of `def f(x, sizes)`, the result is False for `x` and True for `sizes`. The
    reference's annotations count, too; the student's own annotations do not.

    Args:
        function: a function of the student's.
        name: its name in the student's file; "" if it has none.
        args: arguments of a call of it.
    """
    connection = connection_of(function)
    surely_no_tensor = dict[int, bool]()
    for _, statement in source_of(connection).reachable_statements(name) if name else ():
        for parameters in _parameters_of(statement, name):
            if connection.reference is not None:
                for _, other in source_of(connection.reference).reachable_statements(name):
                    for theirs in _parameters_of(other, name):
                        pairs = zip(parameters, theirs, strict=False)
                        surely_no_tensor |= {
                            id(mine): _is_list_annotation(its.annotation)
                            for mine, its in pairs
                            if its.annotation is not None
                        }
            surely_no_tensor |= {
                id(each): not isinstance(value, (torch.Tensor, np.ndarray, Proxy))
                for each, value in zip(parameters, args, strict=False)
            }
    return surely_no_tensor


def _with_helper_parameters(
    statements: Sequence[ast.AST], function: str, surely_no_tensor: Mapping[int, bool]
) -> Mapping[int, bool]:
    """Return `surely_no_tensor`, extended by the parameters of helpers that never get a tensor.

    A helper is another function of the student's. If `helper(x.shape)` is the only call of `def helper(sizes)`, no
    tensor can be in `sizes`. Then `max(sizes)` in the helper is not a loop over a tensor.

    Args:
        statements: the statements that define the function and its helpers.
        function: the name of the function. It is not a helper: checks call it.
        surely_no_tensor: for each parameter that was examined, by the `id` of its syntax node, True if it is surely not
            a tensor.
    """
    scopes = [nodes for statement in statements for nodes in _function_nodes(statement)]
    calls: dict[str, list[tuple[ast.Call, Sequence[ast.AST]]]] = defaultdict(list)
    for nodes in scopes:
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                calls[node.func.id].append((node, nodes))
    loads = [node.id for statement in statements for node in ast.walk(statement)
             if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]  # fmt: skip
    helpers = [one for one in statements if isinstance(one, ast.FunctionDef) and one.name != function]
    # A helper that is also handed over, or is defined twice, may get anything.
    names = [one.name for one in helpers if loads.count(one.name) == len(calls[one.name]) > 0]
    helpers = [one for one in helpers if names.count(one.name) == 1]
    whole, before = dict(surely_no_tensor), -1
    while before != len(whole):  # a helper calls a helper
        before = len(whole)
        for helper in helpers:
            for place, parameter in enumerate((*helper.args.posonlyargs, *helper.args.args)):
                given = [(_argument_of(call, place, parameter.arg), nodes) for call, nodes in calls[helper.name]]
                if all(one is not None and _is_surely_not_a_tensor(one, _Scope(nodes, whole)) for one, nodes in given):
                    whole[id(parameter)] = True
    return whole


def _argument_of(call: ast.Call, place: int, name: str) -> ast.expr | None:
    """Return what a call passes for a parameter, or None.

    `f(a, size=b)` passes `a` for its first parameter, and `b` for `size`. Return None if the call passes nothing for
    it, or unpacks arguments with `*` or `**`.

    Args:
        call: the call.
        place: the index of the parameter among the positional arguments of the call.
        name: the name of the parameter.
    """
    words = {word.arg: word.value for word in call.keywords}
    if any(isinstance(one, ast.Starred) for one in call.args) or None in words:
        return None
    return call.args[place] if place < len(call.args) else words.get(name)


def _parameters_of(statement: ast.AST, name: str) -> Iterator[list[ast.arg]]:
    """Yield the list of positional parameters if a statement defines the function `name`.

    Yield nothing if it does not.
    """
    match statement:
        case ast.FunctionDef(name=defined, args=parameters) | ast.AsyncFunctionDef(name=defined, args=parameters):
            if defined == name:
                yield [*parameters.posonlyargs, *parameters.args]
        case ast.Assign(targets=[ast.Name(id=defined)], value=ast.Lambda(args=parameters)) if defined == name:
            yield [*parameters.posonlyargs, *parameters.args]


def _loops_in(
    file: str, statement: ast.AST, source: SubmittedSource, surely_no_tensor: Mapping[int, bool]
) -> Iterator[Mention]:
    imports = source.names[file]
    for path, line in paths_in(statement, imports):
        if path in _CALLED and path.removeprefix(".") not in source.own and path.split(".")[-1] not in source.bindings:
            yield Mention(_CALLED[path], file, line)
    scopes = [_Scope(nodes, surely_no_tensor) for nodes in _function_nodes(statement)]
    for scope in scopes:
        for node in scope.nodes:
            if (name := _STATEMENTS.get(type(node))) is not None:
                yield Mention(name, file, node.lineno)  # type: ignore[attr-defined]
    for name, node in _calls_that_iterate(statement, scopes, imports, source):
        yield Mention(name, file, node.lineno)


def _calls_that_iterate(
    statement: ast.AST, scopes: Sequence[_Scope], imports: Imports, source: SubmittedSource
) -> Iterator[tuple[str, ast.expr]]:
    """Yield the uses of builtins such as `sum` that may iterate over the rows of a tensor.

    In `sum(x) + max(x, y)` it is only `sum`, unless `x` is surely not a tensor. `iter` with two arguments counts, too.

    Args:
        statement: the outermost statement in which they are looked for.
        scopes: the scopes of its functions, with what is known about their parameters.
        imports: the imports of its file.
        source: the source of the submission.

    Yields:
        The name of the loop, such as "sum", and the node that names the builtin.
    """
    outside = free_names(statement)
    calls = {id(node.func): node for node in ast.walk(statement) if isinstance(node, ast.Call)}
    for scope, node in [(each, node) for each in scopes for node in each.nodes]:
        call = calls.get(id(node))
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if id(node) in outside and _is_builtin(name, imports, source):
                if name == "iter" and call is not None and len(call.args) == 2:
                    yield name, node
                if name in _OVER_ROWS and _may_get_tensor(call, scope):
                    yield name, node
            case ast.Name() | ast.Attribute() if call is not None and _may_get_tensor(call, scope):
                paths = {path for path, _ in paths_in(node, imports)}
                yield from ((path, node) for path in sorted(paths & _OVER_ROWS.keys()))


def _function_nodes(statement: ast.AST) -> Iterator[list[ast.AST]]:
    """Yield, for each outermost function or lambda in a statement, the list of its nodes.

    For a class with two methods, there are two lists. A function inside another function has no list of its own: its
    nodes are in the list of the outer one. Decorators and the values of defaults are left out.
    """
    todo = [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            body = [node.body] if isinstance(node, ast.Lambda) else node.body
            yield [node.args, *(each for part in body for each in ast.walk(part))]
        else:
            todo += ast.iter_child_nodes(node)


def _is_builtin(name: str, imports: Imports, source: SubmittedSource) -> bool:
    """Return whether a name that is not local to a function means Python's builtin.

    `sum` does not if the file imports or defines a `sum`, also by `from torch import *`.
    """
    stars = [path.removesuffix(".*") for path in imports.get("*", ())]
    return name not in imports and name not in source.bindings and not ("torch" in stars and hasattr(torch, name))


def _may_get_tensor(call: ast.Call | None, scope: _Scope) -> bool:
    """Return whether a builtin such as `sum` may get a tensor as its only argument.

    It may in `sum(x)`, and not in `max(x, y)` and `sum(x.shape)`. It may if `call` is None: then the builtin is not
    called here, but passed on as a value.
    """
    match call:
        case None:
            return True
        case ast.Call(args=[first, *more], keywords=keywords):
            alone = not more or (isinstance(call.func, ast.Name) and call.func.id == "sum")  # a second one is `start`
            return (
                alone
                and not isinstance(first, ast.Starred)
                and not _is_surely_not_a_tensor(first, scope)
                and keywords is not None
            )
    return False


def _is_surely_not_a_tensor(value: ast.expr, scope: _Scope, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether the source shows that a value is not a tensor, such as `x.shape` or a list literal.

    Args:
        value: the expression.
        scope: the function.
        seen: names that are being looked up.
    """
    match value:
        case ast.Attribute(attr="shape") | ast.Constant() | ast.JoinedStr() | ast.List() | ast.Tuple() | ast.Set():
            return True
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() | ast.Dict():
            return True  # a loop by itself
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in (*_OF_SIZES, "Size", "keys", "values", "items", "tolist")
        case ast.Call(func=ast.Name(id=name), args=args):
            return name in ("range", "map", "filter") or (
                name in _PASSES_ON and all(_is_surely_not_a_tensor(each, scope, seen) for each in args)
            )
        case ast.Subscript(value=inner, slice=ast.Slice()):
            return _is_surely_not_a_tensor(inner, scope, seen)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _is_surely_not_a_tensor(left, scope, seen) and _is_surely_not_a_tensor(right, scope, seen)
        case ast.BinOp(left=left, op=ast.Mult()):
            return isinstance(left, ast.List) and _is_surely_not_a_tensor(left, scope, seen)
        case ast.IfExp(body=body, orelse=orelse):
            return _is_surely_not_a_tensor(body, scope, seen) and _is_surely_not_a_tensor(orelse, scope, seen)
        case ast.Name(id=name) if name not in seen:
            is_bound = any(_binds(node, name) for node in scope.nodes)
            return all(_surely_not_a_tensor_where_bound(name, scope, seen | {name})) and is_bound
    return False


def _surely_not_a_tensor_where_bound(name: str, scope: _Scope, seen: frozenset[str]) -> Iterator[bool]:
    """Yield, for each place in a function that binds a name, whether it binds no tensor.

    It is True for `n = [1]`, and False for `n = x + 1` if `x` may be a tensor.

    Args:
        name: the name.
        scope: the function.
        seen: names that are being looked up, `name` among them; a value that depends on them may be a tensor.
    """
    for node in scope.nodes:
        match node:
            case ast.arguments(vararg=vararg):
                for each in (*node.posonlyargs, *node.args, *node.kwonlyargs):
                    if each.arg == name:
                        yield scope.surely_no_tensor.get(id(each), _is_list_annotation(each.annotation))
                if vararg is not None and vararg.arg == name:
                    yield True
            case ast.Assign(targets=[ast.Name(id=bound)], value=value) if bound == name:
                yield _is_surely_not_a_tensor(value, scope, seen)
            case ast.AnnAssign(target=ast.Name(id=bound), annotation=note, value=value) if bound == name:
                yield _is_list_annotation(note) or (value is not None and _is_surely_not_a_tensor(value, scope, seen))
            case ast.Assign(targets=[*targets]) if any(
                _binds(part, name) for each in targets for part in ast.walk(each)
            ):
                # `n, *rest = x.shape`: the rest is a list.
                starred = [part for each in targets for part in ast.walk(each) if isinstance(part, ast.Starred)]
                yield any(isinstance(each.value, ast.Name) and each.value.id == name for each in starred)
            case ast.For(target=target) | ast.comprehension(target=target):
                if any(_binds(part, name) for part in ast.walk(target)):
                    yield False


def _binds(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=bound, ctx=ast.Store()):
            return bound == name
        case ast.arguments(vararg=vararg):
            each = [*node.posonlyargs, *node.args, *node.kwonlyargs, *([vararg] if vararg else [])]
            return any(one.arg == name for one in each)
    return False


def _is_list_annotation(note: ast.expr | None) -> bool:
    """Return whether an annotation names a container such as `list`, and not a tensor."""
    match note:
        case ast.Subscript(value=value):
            return _is_list_annotation(value)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _PLAIN_NOTES
    return False


def _recursive_functions(statements: Sequence[tuple[str, ast.AST]]) -> Iterator[Mention]:
    """Yield the functions that call themselves, directly or through others.

    Calls by name and calls of methods of `self` count.
    """
    places: dict[str, list[tuple[str, int]]] = defaultdict(list)
    leads: dict[str, set[str]] = defaultdict(set)
    for file, statement in statements:
        for name, method, function in _named_functions(statement):
            key = f"self.{name}" if method else name
            places[key].append((file, function.lineno))  # type: ignore[attr-defined]
            leads[key] |= set(_called_names(function, method))
    for key in places:
        reached, todo = set[str](), [key]
        while todo:
            new = leads[todo.pop()] & places.keys() - reached
            reached |= new
            todo += new
        if key in reached:
            yield from (Mention("recursion", file, line) for file, line in places[key])


def _named_functions(statement: ast.AST) -> Iterator[tuple[str, bool, ast.AST]]:
    """Yield (name, is a method, node) for each function in a statement."""
    todo: list[tuple[ast.AST, bool]] = [(statement, False)]
    while todo:
        node, method = todo.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, method, node
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as value):
                yield name, False, value
        todo += [(part, isinstance(node, ast.ClassDef)) for part in ast.iter_child_nodes(node)]


def _called_names(function: ast.AST, method: bool) -> Iterator[str]:
    """Yield the names by which a function may call other functions in its file.

    A method may also call other methods: these are yielded as "self.NAME".
    """
    arguments = function.args  # type: ignore[attr-defined]
    first = next((each.arg for each in (*arguments.posonlyargs, *arguments.args)), "") if method else ""
    outside = free_names(function)
    inner = {name for name, _, _ in _named_functions(function)}
    for node in ast.walk(function):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if id(node) in outside or name in inner:
                yield name
            case ast.Attribute(value=ast.Name(id=of), attr=name) if of == first and first:
                yield f"self.{name}"
