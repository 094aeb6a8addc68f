"""Which tests can be checks although student code returns tables of pandas and the like, which stay in the worker."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Sequence

from grader.author.port.text import TopStatement
from grader.lint.scope import CheckSource, Function, imported_names

FRAMES = frozenset({"pandas", "polars", "geopandas", "datascience", "babypandas", "modin", "xarray"})
"""Packages whose tables do not cross: a check gets a proxy of one, and cannot make one for student code."""
_WITHOUT_TABLES = frozenset({*sys.stdlib_module_names, "numpy", "torch", "scipy", "matplotlib", "pytest", "tqdm"})
"""Packages whose functions return no tables."""
PICTURES = frozenset({"matplotlib", "seaborn", "plotly", "altair"})
"""Packages whose objects a check can neither make for student code nor look into."""
_OF_VALUES = {
    "len",
    "list",
    "tuple",
    "sorted",
    "set",
    "int",
    "float",
    "str",
    "bool",
    "abs",
    "round",
    "sum",
    "max",
    "min",
}
"""Builtins that take a proxy that can be iterated over, or a number."""
_NUMBERS = {"values", "tolist", "to_numpy", "to_list", "to_dict", "item", "shape"}
"""Attributes of a table that are arrays, lists and tuples, which cross."""
_CLOSE = {f"numpy.{name}" for name in ("isclose", "allclose", "testing.assert_allclose")} | {"math.isclose"}


def imports_data_frames(items: Sequence[TopStatement]) -> bool:
    """Return whether one of these statements imports a package with data frames, such as pandas."""
    modules = {module for item in items for module, _ in imported_names(item.node).values()}
    return any(module.split(".")[0] in FRAMES for module in modules)


def names_of_tables(items: Sequence[TopStatement]) -> set[str] | None:
    """Return the names in a file whose values may be tables, or functions that may return one.

    After `import pandas as pd`, `df = pd.read_csv("a.csv")` and `def g(): return df`, they are `{"df", "g"}`. The
    values depend on a package with data frames, or on a module that is not known to have none. A function that only
    changes a table which it is passed is not among them. Return None if any name may be one.
    """
    imports = {name: where for item in items for name, where in imported_names(item.node).items()}
    if "*" in imports:
        return None
    unknown = {name for name, (module, _) in imports.items() if module.split(".")[0] not in _WITHOUT_TABLES}
    names = {*unknown}
    while more := {name for item in items if item.uses & names for name in item.binds} - names:
        names |= more
    return names - unknown


def draws_figures(items: Sequence[TopStatement], source: CheckSource) -> bool:
    """Return whether one of these statements uses a package that draws figures.

    Imports do not count.
    """
    return any(_uses_packages(item.node, source, PICTURES) for item in items if not imported_names(item.node))


def needs_data_frames(
    test: Function,
    others: Sequence[TopStatement],
    source: CheckSource,
    students: Collection[str],
    tables: Collection[str],
) -> bool:
    """Return whether a test may use more of a table than a proxy supports.

    Such a test must run beside student code. A proxy has attributes, methods, items, `len` and iteration. Operators
    such as `df["a"] > 3`, `in`, and functions of pandas and NumPy need the table itself.

    Args:
        test: the test.
        others: the other statements that it needs.
        source: the source of the file, for the names of packages.
        students: the names by which it uses student code.
        tables: those among them that may be tables, or functions that may return one by themselves.
    """
    if any(_uses_packages(item.node, source, FRAMES) for item in others if not imported_names(item.node)):
        return True
    if any(isinstance(item.node, Function) and {*item.uses} & {*tables} for item in others):
        return True  # a helper, which may do anything
    return _uses_packages(test, source, FRAMES) or not _ProxySupport(source, students, tables).allows(test.body)


def _uses_packages(node: ast.AST, source: CheckSource, packages: Collection[str]) -> bool:
    """Return whether a statement uses one of these packages."""
    names = (one for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute | ast.ImportFrom | ast.Import))
    paths = [
        path
        for one in names
        for path in (
            [module for module, _ in imported_names(one).values()]
            if isinstance(one, ast.stmt)
            else [source.import_path(one)]
        )
    ]
    return any(path.split(".")[0] in packages for path in paths)


class _ProxySupport:
    """Decides whether a proxy supports what code does with the results of student code.

    A check has a proxy in place of a student's table, which stays in the worker. `len(f(x))` and `f(x)["a"]` are
    supported, and `f(x) + 1` is not.

    Args:
        source: the source of the file, for the names of packages.
        students: the names of student code.
        tables: those among them that may be tables, or functions that may return one by themselves.
    """

    def __init__(self, source: CheckSource, students: Collection[str], tables: Collection[str]) -> None:
        self._source = source
        self._students = frozenset(students)
        self._tables = set[str](tables)

    def allows(self, body: Sequence[ast.stmt]) -> bool:
        """Return whether proxies support all of these statements, in their order."""
        return all(map(self._allows_statement, body))

    def _allows_statement(self, node: ast.stmt) -> bool:
        """Return whether a statement does with student results only what a proxy supports."""
        match node:
            case ast.Assert(test=test):
                return self._allows_condition(test)
            case ast.Assign(targets=targets, value=value) if all(isinstance(one, ast.Name) for one in targets):
                if self._may_have_table(value):
                    self._tables |= {one.id for one in targets if isinstance(one, ast.Name)}
                return self._allows_value(value)
            case ast.Expr(value=ast.Call() as call) if self._source.import_path(call) in _CLOSE:
                return self._allows_close_call(call)
            case ast.Expr(value=value):
                return self._allows_value(value)
        return not self._may_have_table(node)

    def _may_have_table(self, node: ast.AST) -> bool:
        return any(isinstance(one, ast.Name) and one.id in self._tables for one in ast.walk(node))

    def _allows_condition(self, node: ast.expr) -> bool:
        """Return whether a condition does with student results only what a proxy supports."""
        match node:
            case ast.BoolOp(values=values):
                return all(map(self._allows_condition, values))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._allows_condition(operand)
            case ast.Compare(left=left, ops=ops, comparators=others):
                of_students = [one for one in (left, *others) if self._may_have_table(one)]
                inside = [other for op, other in zip(ops, others, strict=True) if isinstance(op, ast.In | ast.NotIn)]
                # With a literal: two tables would be compared element by element.
                is_plain = len(of_students) <= 1 and not any(map(self._may_have_table, inside))
                return is_plain and all(map(self._allows_operand, of_students))
            case ast.Call() if self._source.import_path(node) in _CLOSE:
                return self._allows_close_call(node)
        return self._allows_value(node)

    def _allows_operand(self, node: ast.expr) -> bool:
        """Return whether an operand of a comparison does only what proxies support.

        Such an operand is `abs(x - 3)` in `abs(x - 3) < 1`.
        """
        match node:
            case ast.Call(func=ast.Name(id="abs" | "round"), args=[ast.BinOp(left=left, right=right), *_]):
                return not (self._may_have_table(left) and self._may_have_table(right)) and all(
                    map(self._allows_value, (left, right))
                )
        return self._allows_value(node)

    def _allows_close_call(self, call: ast.Call) -> bool:
        """Return whether proxies support the arguments of a call such as `numpy.isclose(...)`."""
        of_students = [one for one in call.args if self._may_have_table(one)]
        scalars = [one for one in call.args if _is_number(one)]
        return len(of_students) <= 1 and all(
            self._allows_value(one) and (bool(scalars) or self._is_array(one)) for one in of_students
        )

    def _is_array(self, node: ast.expr) -> bool:
        match node:
            case ast.Subscript(value=value):
                return self._is_array(value)
            case ast.Call(func=ast.Attribute(attr=name)) | ast.Attribute(attr=name):
                return name in _NUMBERS
        return False

    def _allows_value(self, node: ast.expr) -> bool:
        """Return whether an expression does with student results only what a proxy supports."""
        if not self._may_have_table(node):
            return True
        match node:
            case ast.Name():
                return True
            case ast.Attribute(value=value):
                return self._allows_value(value)
            case ast.Subscript(value=value, slice=place):
                return self._allows_value(value) and not self._may_have_table(place)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=words):
                values = [*args, *(word.value for word in words)]
                return (name in _OF_VALUES or name in self._students) and all(map(self._allows_value, values))
            case ast.Call(func=ast.Attribute(value=value), args=args, keywords=words):
                return self._allows_value(value) and not any(
                    map(self._may_have_table, [*args, *(word.value for word in words)])
                )
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return all(map(self._allows_value, items))
        return False


def _is_number(node: ast.expr) -> bool:
    """Return whether a node is a number that is written out, such as `-0.5`."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_number(operand)
    return isinstance(node, ast.Constant)
