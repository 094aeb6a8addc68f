"""Seeds that a notebook sets above a test whose draws they reach."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

from grader.author.port.rewrite import SEED_MODULES, draws_from
from grader.author.port.text import TopStatement
from grader.lint.scope import Function, imported_names


class Seeds:
    """The seeds that the cells of a notebook set outside of functions.

    Args:
        items: all statements of its cells and its tests, whose imports and functions count.
    """

    def __init__(self, items: Sequence[TopStatement]) -> None:
        self._names = {name: where for item in items for name, where in imported_names(item.node).items()}
        self._functions = {item.name: item.node for item in items if item.name}

    def lines_for(self, test: ast.AST, above: Sequence[tuple[TopStatement, bool]]) -> list[str]:
        """Return the lines that a test needs at its top since a seed above it reaches its draws.

        They are the seeds, such as `np.random.seed(0)`, of the modules whose draws certainly follow them. Another seed
        has a TODO. A seed is certain if it is near, nothing between draws, and the test draws by itself alone.

        Args:
            test: the syntax tree of the test.
            above: the statements above it in the notebook, each with True if it is near: in the cell directly above, or
                in the same question.
        """
        own, lines = {self._module_of_seed(node) for node in ast.walk(test)}, list[str]()
        drawn = self._draws_of(test)
        last = {self._module_of_seed(item.node): place for place, (item, _) in enumerate(above)}
        for module, place in last.items():
            if not module or module not in drawn or module in own:
                continue
            item, is_near = above[place]
            between = [one.node for one, _ in above[place + 1 :] if not isinstance(one.node, (Function, ast.ClassDef))]
            is_alone = drawn[module] and not any(
                module in self._draws_of(node) or module in self._drawn_in_functions(node) for node in between
            )
            seed = ast.unparse(item.node)
            if is_near and is_alone and module not in self._drawn_in_functions(test):
                lines.append(seed)
            else:
                lines.append(
                    f"# TODO: `{seed}` stands above in the notebook, and numbers below may come from it: compare with "
                    "`reference`, or draw from a generator with this seed"
                )
        return lines

    def of_given(
        self, plain: Sequence[TopStatement], needed: Sequence[TopStatement], solved: Collection[str]
    ) -> list[TopStatement]:
        """Return the statements that a test file needs so that given statements draw what they draw in the notebook.

        They are the seeds, and all that draws below them. Return [] if other code may draw between.

        Args:
            plain: the statements of the notebook outside of functions.
            needed: those among them that the tests need.
            solved: the names that the solution binds.
        """
        chosen = list[TopStatement]()
        for module in {module for item in needed for module in self._draws_of(item.node)}:
            seeds = [place for place, item in enumerate(plain) if self._module_of_seed(item.node) == module]
            below = plain[seeds[0] :] if seeds else []
            drawing = [item for item in below if module in self._draws_of(item.node)]
            certain = not any(
                module in self._drawn_in_functions(item.node) or item.binds & {*solved} for item in drawing
            )
            if seeds and certain and not any(module in self._drawn_in_functions(item.node) for item in below):
                chosen += [item for item in below if item in drawing or self._module_of_seed(item.node) == module]
        return chosen

    def _draws_of(self, node: ast.AST) -> Mapping[str, bool]:
        """Return the modules from which code draws; each with True if it names the module at every draw."""
        found = dict[str, bool]()
        for call in (one for one in ast.walk(node) if isinstance(one, ast.Call)):
            if module := draws_from(self._path(call.func)):
                found[module] = found.get(module, True) and isinstance(call.func, ast.Attribute)
        return found

    def _drawn_in_functions(self, node: ast.AST) -> set[str]:
        """Return the modules from which the notebook's functions draw that code names, and those that they call."""
        seen, todo = set[str](), [node]
        modules = set[str]()
        while todo:
            names = {one.id for one in ast.walk(todo.pop()) if isinstance(one, ast.Name)}
            for name in (names & self._functions.keys()) - seen:
                seen.add(name)
                todo.append(self._functions[name])
                modules |= self._draws_of(self._functions[name]).keys()
        return modules

    def _module_of_seed(self, node: ast.AST) -> str:
        """Return the module that a statement seeds, such as "numpy.random"; "" if it sets no seed."""
        match node:
            case ast.Expr(value=ast.Call(func=function)):
                return SEED_MODULES.get(self._path(function), "")
        return ""

    def _path(self, node: ast.AST) -> str:
        """Return the path by which a name or an attribute is imported: for `np.random.rand`, "numpy.random.rand"."""
        root, _, rest = ast.unparse(node).partition(".")
        module, name = self._names.get(root, ("", ""))
        return ".".join(filter(None, [module, name, rest])) if module else ""
