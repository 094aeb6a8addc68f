"""A plain pytest file, and its functions as those of a check file, with our helpers for asserts, or the probe file."""

from __future__ import annotations

import ast
import json
import keyword
import random
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from grader.author.port.asserts import convert_to_pytest, must_be_first
from grader.author.port.data_files import first_literal, reads_file
from grader.author.port.frames import draws_figures, needs_data_frames
from grader.author.port.text import Edits, TopStatement, docstring_of, indent_block, source_of_file, top_statements
from grader.course.answers import first_line_number, lines_of, undefined_and_defined_names
from grader.lint.lines import graph_attribute
from grader.lint.scope import FIXTURE, CheckSource, ExprKind, Function, Scope, imported_names, parameters, scopes
from grader.model.errors import CourseError

_LIBRARIES = (sys.stdlib_module_names - {"code"}) | {
    *("torch", "numpy", "pytest", "scipy", "pandas", "einops", "jaxtyping", "hypothesis", "torchvision", "sklearn"),
    *("matplotlib", "tqdm", "typing_extensions", "transformers", "tiktoken", "PIL", "yaml", "psutil"),
}
_HELPERS = {"common", "conftest", "fixtures", "helpers", "test_utils", "utils"}
"""Modules beside a test file that are the course's."""


_SEEDS = re.compile(r"torch\.(cuda\.)?manual_seed(_all)?|(numpy\.)?random\.seed")
_TAKE_GENERATOR = ("randn", "rand", "randperm", "randint", "bernoulli", "multinomial", "normal")
DRAWS = {f"torch.{name}" for name in _TAKE_GENERATOR}
"""Functions of PyTorch that draw, and take the argument `generator`."""
_GENERATOR = "draws"
_BELOW_A_SEED = "stands above in the notebook"
"""Words of a comment in a test of a notebook; see `Seeds`."""
_TORCH_SEED = "torch.manual_seed"
_KEPT_SEED = (
    "the numbers below come from this seed: draw from `rng`, and compare with `reference`, so that inputs are new"
)
_LOST_SEED = "`{}` stood here, and the numbers below may come from it: compare with `reference` instead"
_TAKEN_AWAY = (
    "a check cannot take `{0}` away from student code: look for its name in `source(student)`, or compare values alone"
)
_NEAR = ("rtol", "atol", "rel", "abs", "rel_tol", "abs_tol", "decimal", "delta", "places")
_BOUNDS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
"""Comparisons that say how large something may be."""
_GENERATOR_OF = {"numpy.random": "RandomState", "random": "Random"}
"""By module what makes another generator that draws the same numbers."""
DRAWN_BY = {
    "torch": {*_TAKE_GENERATOR, "rand_like", "randn_like", "randint_like"},
    "numpy.random": {*dir(np.random.RandomState)} - {"seed"},
    "random": {*dir(random.Random)} - {"seed"},
}
"""By module the functions that draw from its one generator."""
_SEEDS_OF = {f"{module}.seed" for module in _GENERATOR_OF}
SEED_MODULES = {_TORCH_SEED: "torch", **{f"{module}.seed": module for module in _GENERATOR_OF}}
"""The module whose draws depend on a seed, by the function that sets it."""
_MARKS_OF_CHECKS = ("pytest.mark.parametrize", "pytest.mark.usefixtures")
_CUDA_MARK = re.compile(r"skipif\(.*\bcuda\b")
_WRAPS = {
    "tmp_path": ("with TemporaryDirectory() as folder:\n", "    tmp_path = Path(folder)\n"),
    "monkeypatch": ("with pytest.MonkeyPatch.context() as monkeypatch:\n",),
    "capsys": ("with redirect_stdout(StringIO()) as capsys:\n",),
}
"""Fixtures of pytest that a probe makes itself, each with the lines that do so."""


class Tests:
    """A plain pytest file, whose functions can be written as those of a check file or of the probe file.

    Args:
        text: the text of the file.
        defined: the names of the reference, where there is one.
        module: the only module that student code is in; "" if any may be that is not a library.
        data: names of the data files that students have.
        titles: the titles of checks, by the name of the test; one that is not named has a title made from its name.

    Attributes:
        items: its statements, without imports of student code; methods of test classes are functions.
        tests: the tests among them, by name.
        fixtures: its fixtures, by name.
        generators: the names of the generators that statements at the top of a check file draw from.
        needs: the fixtures that each function of a check file takes besides its own parameters, such as `student`.
        beside: the student's functions and classes that each function of the probe file takes.

    Raises:
        CourseError: there is nothing to port.
    """

    def __init__(
        self,
        text: str,
        defined: Collection[str] = (),
        module: str = "",
        data: Collection[str] = (),
        titles: Mapping[str, str] | None = None,
    ) -> None:
        self._module, self._titles, self._data = module, titles or {}, data
        try:
            text = self._with_imports_at_top(convert_to_pytest(text))
            whole = top_statements(text)
        except (SyntaxError, ValueError) as error:
            raise CourseError(f"the test file is not valid Python ({error}); fix it first") from None
        names = CheckSource(ast.parse(text))
        self.items = top_statements("\n\n".join(_as_functions(item, names) for item in whole if self._is_ported(item)))
        self._names = dict[str, str]()  # the student's names, as the file has them and as the task has them
        self._modules = set[str]()
        self._imported = {name for item in whole for name in imported_names(item.node)}
        for item in whole:
            for name, (module, inner) in imported_names(item.node).items():
                self._record_import(name, module, inner, defined)
        whole_text = source_of_file("", self.items)
        self._source = CheckSource(ast.parse(whole_text))
        self._below_a_seed = "".join(item.text for item in self.items if _BELOW_A_SEED in item.text)
        self._functions = [item for item in self.items if isinstance(item.node, Function)]
        self.tests = {item.name: item for item in self._functions if item.name.startswith("test")}
        if not self.tests:
            raise CourseError("the file has no tests: functions named test_...")
        if not any(self.student_names(item.node) for item in self.items):
            raise CourseError(
                "no test calls student code: nothing is imported from a module such as solution or adapters; what "
                "reads files that students wrote, or starts their program, is to be written as calls of functions"
            )
        fixtures = {node.name for node in self._source.functions if self._source.decorator(node, FIXTURE)}
        self.fixtures = {item.name: item for item in self._functions if item.name in fixtures}
        others = [item for item in self._functions if item.name not in self.tests.keys() | fixtures]
        self._helpers = {item.name: item for item in others}
        self._loaded = loaded_variables(self.items, data)
        self._seeds_of_file = self._find_seeds_of_file()
        self.generators = {*self._seeds_of_file.values()}
        self.needs = self._collect_needs(self._check_needs, self._helpers)
        self.beside = self._collect_needs(self.student_names, self._helpers | self.fixtures)

    def _record_import(self, name: str, module: str, inner: str, defined: Collection[str]) -> None:
        """Record an imported name as a name or a module of the student's.

        `from solution import mean as average` says that `average` is the student's `mean`. Names from libraries and
        from the course's helper modules are not recorded. For `*`, names that the file uses and neither defines nor
        imports are recorded.

        Args:
            name: the name that the import binds.
            module: the module.
            inner: the name in the module; "" if the module itself is bound.
            defined: the names of the reference.
        """
        last = module.split(".")[-1]
        is_module = not inner or not module.strip(".")
        if self._is_library(module) or (inner if is_module and inner else last) in _HELPERS:
            return
        if inner == "*":
            undefined, _ = undefined_and_defined_names("".join(item.text for item in self.items))
            self._names |= {unknown: unknown for unknown in undefined if unknown not in self._imported}
        elif is_module:
            self._modules.add(name)
        else:  # an adapter's name is the student's name with "run_" before it
            is_adapter = last == "adapters" and inner not in defined
            self._names[name] = inner.removeprefix("run_") if is_adapter else inner

    def _with_imports_at_top(self, text: str) -> str:
        """Return a test file with all imports of student code at its top.

        Those inside of functions are moved there.
        """
        tree, edits = ast.parse(text), Edits(text)
        moved = list[str]()
        for function in (node for node in ast.walk(tree) if isinstance(node, Function)):
            for node in (one for one in ast.walk(function) if isinstance(one, ast.Import | ast.ImportFrom)):
                if any(self._is_library(module) for module, _ in imported_names(node).values()):
                    continue
                moved.append(f"{ast.unparse(node)}\n")
                if node in function.body and len(function.body) > 1:
                    edits.drop(node)
                else:
                    edits.replace(node, "pass")
        first = next((node for node in tree.body if not must_be_first(node)), None)
        if first is not None:
            edits.insert_above(first, "".join(dict.fromkeys(moved)))
        return edits.result()

    def _is_library(self, module: str) -> bool:
        return module != self._module if self._module else module.split(".")[0] in _LIBRARIES

    def _is_ported(self, item: TopStatement) -> bool:
        """Return whether a statement of the test file is ported.

        Imports of student code, bare strings, and `if __name__ == ...` are dropped.
        """
        match item.node:
            case ast.Import() | ast.ImportFrom():
                return all(self._is_library(module) for module, _ in imported_names(item.node).values())
            case ast.Expr(value=ast.Constant()) | ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                return False
        return True

    def student_nodes(self, function: ast.AST) -> Iterator[tuple[ast.expr, str]]:
        """Yield the nodes in a function's body that name student code.

        Each node is paired with the name that the exercise has for it: after `from solution import mean as average`, a
        node `average` with "mean".
        """
        nodes = list(ast.walk(function))
        own = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
        own |= _all_parameters(function) if isinstance(function, (Function, ast.Lambda)) else set()
        # A parameter of a helper inside of the function hides a name only there.
        inner = [node for node in nodes if isinstance(node, (Function, ast.Lambda)) and node is not function]
        hidden = {
            id(node)
            for helper in inner
            for node in ast.walk(helper)
            if isinstance(node, ast.Name) and node.id in _all_parameters(helper)
        }
        for node in (node for statement in getattr(function, "body", ()) for node in ast.walk(statement)):
            match node:
                case ast.Name(id=name) if name in self._names and name not in own and id(node) not in hidden:
                    yield node, self._names[name]
                case ast.Attribute(value=ast.Name(id=module), attr=name) if module in self._modules:
                    yield node, name

    def _modules_in(self, node: ast.AST) -> Iterator[ast.Name]:
        """Yield the nodes of a function's body that stand for a student's module as a whole.

        Such a node is `module` in `hasattr(module, "f")`, and not in `module.f`.
        """
        nodes = [one for statement in getattr(node, "body", ()) for one in ast.walk(statement)]
        owners = {id(one.value) for one in nodes if isinstance(one, ast.Attribute)}
        for one in nodes:
            if isinstance(one, ast.Name) and one.id in self._modules and id(one) not in owners:
                yield one

    def student_names(self, node: ast.AST) -> list[str]:
        """Return the names of the student's functions and classes that a function's body uses."""
        return [task for _, task in self.student_nodes(node)]

    def needs_data_frames(
        self, test: str, others: Sequence[TopStatement], tables: Collection[str] | None = None
    ) -> bool:
        """Return whether a test may do more with a data frame than a proxy supports.

        A data frame is, for example, one of pandas.

        Args:
            test: the name of the test.
            others: the other statements that it needs.
            tables: the names of the reference that may be tables, or return them; None if any may.
        """
        node = self.tests[test].node
        assert isinstance(node, Function)
        names = {name for name, task in self._names.items() if tables is None or task in tables}
        return needs_data_frames(node, others, self._source, self._names, names)

    def loads_one_of(self, test: str, files: Collection[str]) -> bool:
        """Return whether a test loads one of these data files by a name that stands in it."""
        return any(first_literal(call) in files for call in self._loads_of_data(self.tests[test].node))

    def draws_figures(self, items: Sequence[TopStatement]) -> bool:
        """Return whether one of these statements uses a package that draws figures, such as matplotlib."""
        return draws_figures(items, self._source)

    def _check_needs(self, node: ast.AST) -> list[str]:
        draws = "rng" not in self.fixtures and (
            (any(map(self._draws_at_random, ast.walk(node))) and not self.keeps_seed(node))
            or bool(self._unseeded_draws(node))
        )
        is_students = bool(self.student_names(node) or [*self._modules_in(node)])
        loads = any(self._loads_of_data(node))
        reads = any(self._reads_of_loaded_variables(node))
        return ["student"] * is_students + ["reference"] * reads + ["rng"] * draws + ["files"] * loads

    def _draws_by_module(self, nodes: Iterable[ast.AST]) -> dict[str, list[ast.Attribute]]:
        """Return the nodes such as `np.random.rand`, by the module whose one generator they draw from."""
        found = dict[str, list[ast.Attribute]]()
        for one in (each for node in nodes for each in ast.walk(node)):
            if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name | ast.Attribute):
                path = self._source.import_path(one.value)
                if path in _GENERATOR_OF and one.attr in DRAWN_BY[path]:
                    found.setdefault(path, []).append(one)
        return found

    def _unseeded_draws(self, node: ast.AST) -> dict[str, list[ast.Attribute]]:
        """Return the draws of a function from NumPy's generator, or Python's, by module, where it sets no seed itself.

        Numbers that it expects may come from a seed above it: then it has none of these.
        """
        if not isinstance(node, Function):
            return {}
        drawn = self._draws_by_module(node.body)
        seeded = {self._module_of_seed(one) for one in ast.walk(node)}
        if _has_expected_numbers(node):
            seeded |= {self._module_of_seed(item.node) for item in self.items}
            seeded |= {*drawn} if f"def {node.name}(" in self._below_a_seed else set()
        return {module: draws for module, draws in drawn.items() if module not in seeded}

    def _module_of_seed(self, node: ast.AST) -> str:
        """Return the module that a statement seeds; "" if it sets no seed."""
        is_seed = isinstance(node, ast.Expr) and self._is_seed(node)
        return SEED_MODULES.get(self._source.import_path(node.value), "") if is_seed else ""  # type: ignore[attr-defined]

    def _find_seeds_of_file(self) -> dict[str, str]:
        """Return the modules that the file seeds at its top before it draws there, each with a generator's name."""
        seeded, drawn = set[str](), set[str]()
        for item in self.items:
            seeded |= {self._module_of_seed(item.node)}
            is_definition = isinstance(item.node, (Function, ast.ClassDef))
            new = set[str]() if is_definition else {*self._draws_by_module([item.node])} - drawn
            seeded -= new - seeded
            drawn |= new
        modules = sorted(seeded & drawn)
        return {one: _generator_name(one, modules) for one in modules}

    def _rewrite_statement(self, item: TopStatement) -> str:
        """Return a statement at the top of the file, whose draws come from a generator with the file's seed."""
        edits = Edits(item.text)
        match item.node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=module), args=[seed])) if (
                name := self._seeds_of_file.get(self._module_of_seed(item.node))
            ):
                made = _GENERATOR_OF[self._source.import_path(module)]
                return f"{name} = {edits.text(module)}.{made}({edits.text(seed)})\n"
        for path, draws in self._draws_by_module([item.node]).items():
            for draw in draws:
                if path in self._seeds_of_file:
                    edits.replace(draw.value, self._seeds_of_file[path])
        return edits.result()

    def _loads_of_data(self, node: ast.AST) -> Iterator[ast.Call]:
        """Yield the calls in a function that load a data file whose name stands in the call."""
        calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
        yield from (one for one in calls if reads_file(self._source, one) and first_literal(one) in self._data)

    def _reads_of_loaded_variables(self, node: ast.AST) -> Iterator[ast.Name]:
        """Yield the nodes of a function that read a variable whose value comes from a data file."""
        nodes = [one for statement in getattr(node, "body", ()) for one in ast.walk(statement)]
        names = [one for one in nodes if isinstance(one, ast.Name)]
        own = {one.id for one in names if isinstance(one.ctx, ast.Store)} | {*parameters(node)}  # type: ignore[arg-type]
        yield from (one for one in names if one.id in self._loaded - own)

    def _collect_needs(
        self, direct: Callable[[ast.AST], Iterable[str]], passed: Mapping[str, TopStatement]
    ) -> dict[str, list[str]]:
        needs = {item.name: set(direct(item.node)) for item in self._functions}
        for _ in needs:  # a helper calls a helper
            for item in self._functions:
                needs[item.name] |= {need for name in item.uses & passed.keys() for need in needs[name]}
        return {name: sorted(all_of, key=lambda need: (need != "student", need)) for name, all_of in needs.items()}

    def _rewrite_body(self, edits: Edits, node: ast.AST, needs: Mapping[str, list[str]], prefix: str) -> None:
        """Rewrite the names of student code in a function's body.

        In a check file, `total(x)` becomes `student.total(x)`, and the call `helper(x)` of a helper that uses student
        code becomes `helper(student, x)`. Variables that are loaded from data files are read from the reference.

        Args:
            edits: the edits of the function's source, to which these are added.
            node: the function.
            needs: the arguments that each function takes besides its own parameters, by the function's name.
            prefix: the source before each name of student code: "student." in a check file, "" in a probe file.
        """
        for place, task in self.student_nodes(node):
            edits.replace(place, f"{prefix}{task}")
        students = {id(place) for place, _ in self.student_nodes(node)} if prefix else set[int]()
        for one in ast.walk(node):
            if isinstance(one, ast.Call) and id(one.func) in students:
                for arg in filter(_is_range, [*one.args, *(word.value for word in one.keywords)]):
                    edits.replace(arg, f"list({edits.text(arg)})")  # a check cannot send a range
        for load in self._loads_of_data(node) if prefix else ():
            edits.replace(load.args[0], f"files / {json.dumps(first_literal(load))}")
        # A check file is not where the data is; the reference has loaded it, too.
        for place in self._reads_of_loaded_variables(node) if prefix else ():
            edits.replace(place, f"reference.{place.id}")
        for place in self._modules_in(node) if prefix else ():
            edits.replace(place, prefix.rstrip("."))
        for statement in ast.walk(node):
            match statement:
                case ast.Delete(targets=[ast.Name(id=name)]) if name in self._names:
                    edits.comment(statement.lineno, f"TODO: {_TAKEN_AWAY.format(name)}")
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in self._helpers:
                name = self.name_in_checks(call.func.id) if prefix else call.func.id
                edits.insert_first_arguments(
                    call, name, needs[call.func.id], others_follow=bool(call.args or call.keywords)
                )

    # -- check files ----------------------------------------------------------------------------------------------

    def rewrite_for_checks(self, item: TopStatement) -> str:
        """Return a statement rewritten for the check file; "" if nothing is left of it.

        `def test_total():` with `assert total([1, 2]) == 3` becomes `def check_total(student):` with
        `assert student.total([1, 2]) == 3`, below the decorator `@check("C1")`.
        """
        node, edits = item.node, Edits(item.text)
        is_seed_alone = all(map(self._is_seed, node.body if isinstance(node, Function) else [node]))
        if is_seed_alone and self._module_of_seed(node) not in self._seeds_of_file:
            return ""
        if not isinstance(node, Function):
            return item.text if isinstance(node, ast.ClassDef) else self._rewrite_statement(item)
        needs = self.needs[item.name]
        edits.insert_first_arguments(
            node, self.name_in_checks(item.name), needs, others_follow=bool(ast.unparse(node.args))
        )
        if item.name in self.tests:
            above = node.decorator_list[0] if node.decorator_list else node
            edits.insert(edits.start(above) - bool(node.decorator_list), '@check("C1")\n')
            self._insert_title(edits, item, node)
        self._rewrite_decorators(edits, item, node)
        self._rewrite_body(edits, node, self.needs, "student.")
        own, keeps = dict(self._replace_seeded_draws(edits, node)), self.keeps_seed(node)
        name = _generator_name("torch", self._seeded_modules(node)) if keeps else "rng"
        for call in filter(self._draws_at_random, ast.walk(node) if keeps or "rng" in needs else ()):
            assert isinstance(call, ast.Call)
            edits.insert(edits.end(call) - 1, f"{', ' * bool(call.args or call.keywords)}generator={name}")
        self._draw_from_rng(edits, node)
        bodies = (getattr(inner, "body", None) for inner in ast.walk(node))
        for block in (body for body in bodies if isinstance(body, list)):
            for statement in filter(self._is_seed, block):
                if statement in own:
                    edits.replace(statement, own[statement])
                    continue
                path = self._source.import_path(getattr(statement, "value", None))
                if keeps and path == _TORCH_SEED:
                    edits.comment(statement.lineno, f"TODO: {_KEPT_SEED}")
                    edits.replace(statement, f"{name} = {self._torch_generator(edits, statement)}")
                    continue
                if path == _TORCH_SEED and _has_expected_numbers(node):
                    edits.comment(statement.lineno, f"TODO: {_LOST_SEED.format(edits.text(statement))}")
                if path in _SEEDS_OF:
                    words = f"`{edits.text(statement)}` stood here: if student code draws, call it by `call_seeded`"
                    edits.comment(statement.lineno, f"TODO: {words}")
                edits.drop(statement) if len(block) > 1 else edits.replace(statement, "pass")
        return edits.result()

    def _draw_from_rng(self, edits: Edits, node: Function) -> None:
        """Replace draws without a seed by those of a generator whose seed comes from `rng`.

        `np.random.rand(3)` becomes `draws.rand(3)`, below `draws = np.random.RandomState(rng.integer(0, 2**32 - 1))`.
        """
        if "rng" in self.fixtures:
            return
        found = self._unseeded_draws(node)
        first = node.body[ast.get_docstring(node) is not None :]
        for module, draws in found.items():
            name = _generator_name(module, found)
            while any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node)):
                name += "_"
            made = f"{edits.text(draws[0].value)}.{_GENERATOR_OF[module]}(rng.integer(0, 2**32 - 1))"
            edits.insert_above(first[0], f"{' ' * first[0].col_offset}{name} = {made}\n")
            for draw in draws:
                edits.replace(draw.value, name)

    def _insert_title(self, edits: Edits, item: TopStatement, test: Function) -> None:
        """Insert a docstring into a test that has none: its title.

        `test_empty_input` gets the title "Empty input", unless the notebook has a title for it.
        """
        if ast.get_docstring(test) is not None:
            return
        title = self._titles.get(item.name) or item.name.removeprefix("test").strip("_").replace("_", " ").capitalize()
        first = test.body[0]
        row, rows = first_line_number(first), lines_of(item.text)
        while not rows[row - 2].strip() or rows[row - 2].lstrip().startswith("#"):
            row -= 1
        edits.insert_at_line(row, f"{' ' * first.col_offset}{docstring_of(title or 'All')}\n")

    def keeps_seed(self, node: ast.AST) -> bool:
        """Return whether a test must keep its seed of PyTorch.

        It must if numbers that it expects depend on that seed: it sets the seed at the top of its body, draws below
        that, and contains expected numbers. A test that calls anything of `torch.nn` does not keep its seed: a layer
        would draw from the seed, too.
        """
        if not isinstance(node, Function) or not _has_expected_numbers(node):
            return False
        calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
        seeds = [one for one in calls if self._source.import_path(one) == _TORCH_SEED]
        draws = [one for one in calls if self._draws_at_random(one)]
        at_top = [one.value for one in node.body if isinstance(one, ast.Expr)]
        return (
            bool(seeds and draws and not any(self._source.import_path(one).startswith("torch.nn.") for one in calls))
            and all(seed in at_top and len(seed.args) == 1 for seed in seeds)
            and min(draw.lineno for draw in draws) > min(seed.lineno for seed in seeds)
        )

    def _seeded_modules(self, node: Function) -> set[str]:
        """Return the modules that a function seeds, such as `{"torch", "numpy.random"}`."""
        return {self._source.import_path(statement.value).rpartition(".")[0] for statement in ast.walk(node)
                if isinstance(statement, ast.Expr) and self._is_seed(statement)}  # fmt: skip

    def _replace_seeded_draws(self, edits: Edits, node: Function) -> Iterator[tuple[ast.stmt, str]]:
        """Replace draws that follow a seed by equal draws of a new generator with that seed.

        `np.random.seed(0)` becomes `draws = np.random.RandomState(0)`, and `np.random.rand(3)` becomes `draws.rand(3)`.
        The draws are those of NumPy and of `random`.

        Yields:
            Each statement that sets such a seed, with the statement that makes the generator.
        """
        for seed in filter(self._is_seed, node.body):
            assert isinstance(seed, ast.Expr)
            match seed.value:
                case ast.Call(func=ast.Attribute(value=module), args=[_], keywords=[]) as call:
                    path = self._source.import_path(module)
                case _:
                    continue
            draws = self._draws_by_module([node]).get(path, [])
            if draws and all(one.lineno > seed.lineno for one in draws):
                name = _generator_name(path, self._seeded_modules(node))
                for draw in draws:
                    edits.replace(draw.value, name)
                made = f"{edits.text(module)}.{_GENERATOR_OF[path]}({edits.text(call.args[0])})"
                yield seed, f"{name} = {made}"

    def _torch_generator(self, edits: Edits, seed: ast.stmt) -> str:
        """Return the source of a generator with the seed of a `torch.manual_seed(...)`.

        For `torch.manual_seed(0)` it is "torch.Generator().manual_seed(0)".
        """
        assert isinstance(seed, ast.Expr)
        assert isinstance(seed.value, ast.Call)
        function = seed.value.func
        torch = edits.text(function.value) if isinstance(function, ast.Attribute) else "torch"
        return f"{torch}.Generator().manual_seed({edits.text(seed.value.args[0])})"

    def name_in_checks(self, name: str) -> str:
        """Return the name that a function of the test file gets in the check file.

        A test `test_total` is renamed to `check_total`. A helper or a fixture keeps its name; but `rng` becomes `_rng`,
        as it has a meaning in a check file.
        """
        if name in self.tests:
            return f"check_{name.removeprefix('test').strip('_') or 'all'}"
        return f"_{name}" if name.startswith("check_") or name in _OURS else name

    def _rewrite_decorators(self, edits: Edits, item: TopStatement, node: Function) -> None:
        for one in node.decorator_list:
            path = self._source.import_path(one)
            if item.name in self.tests and path.startswith("pytest.mark.") and path not in _MARKS_OF_CHECKS:
                edits.drop(one)
                mark = ast.unparse(one).removeprefix("pytest.mark.")
                instead = '; for a GPU, write `@check(device="sim-cuda")`' if _CUDA_MARK.match(mark) else ""
                edits.comment(one.lineno, f"TODO: the test had the mark {mark}, and a check has none{instead}")
            elif path == FIXTURE and isinstance(one, ast.Call) and self.needs[item.name]:
                words = [ast.unparse(word) for word in one.keywords if word.arg != "scope"]
                edits.replace(one, f"pytest.fixture({', '.join(words)})" if words else "pytest.fixture")

    def _is_seed(self, node: ast.stmt) -> bool:
        return isinstance(node, ast.Expr) and _SEEDS.fullmatch(self._source.import_path(node.value)) is not None

    def _draws_at_random(self, node: ast.AST) -> bool:
        """Return whether a node is a call such as `torch.rand` without the argument `generator`."""
        is_draw = isinstance(node, ast.Call) and self._source.import_path(node) in DRAWS
        return is_draw and not has_generator(node)

    def check_by_probe(self, test: TopStatement, check: TopStatement) -> str:
        """Return the source of a check that calls a test's function in the probe file.

        Its last line is, for example, `probe.try_total(student.total)`.
        """
        assert isinstance(test.node, Function)
        assert isinstance(check.node, Function)
        given = self._probe_parameters(test.node)
        args = ", ".join([*(f"student.{name}" for name in self.beside[test.name]), *given])
        lines = [
            *check.text.splitlines()[: check.node.lineno - 1],
            f"def {check.name}({', '.join(['student', 'probe', *given])}):",
            f"    {ast.get_source_segment(check.text, check.node.body[0])}",
            "    # TODO: return values from the probe and compare them here; student code could forge its asserts",
            f"    probe.{self.name_in_probe(test.name)}({args})\n",
        ]
        return "\n".join(lines)

    # -- probe files ----------------------------------------------------------------------------------------------

    def rewrite_for_probe(self, item: TopStatement) -> str:
        """Return a statement rewritten for the probe file.

        `def test_empty_input():` with `assert total([]) == 0` becomes `def empty_input(total):` with the same assert.
        Fixtures are functions there, which tests call.
        """
        node = item.node
        if not isinstance(node, Function):
            return "" if self._is_seed(node) else item.text
        taken, params = parameters(node), [*self.beside[item.name], *self._probe_parameters(node)]
        if item.name in self._helpers:
            params = [*self.beside[item.name], *filter(None, [ast.unparse(node.args)])]
        edits = Edits(item.text)
        self._rewrite_body(edits, node, self.beside, "")
        for one in ast.walk(node):
            match one:
                case ast.Attribute(
                    attr="out", value=ast.Call(func=ast.Attribute(value=ast.Name("capsys"), attr="readouterr"))
                ):
                    edits.replace(one, "capsys.getvalue()")
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        blanks = " " * node.body[0].col_offset
        made = [f"{blanks}{name} = {self.name_in_probe(name)}({', '.join(self.beside[name])})\n"
                for name in taken if name in self.fixtures]  # fmt: skip
        text = "".join(made) + (edits.result(body) if body else f"{blanks}pass\n")
        for name in reversed([name for name in taken if name in _WRAPS]):
            text = "".join(f"{blanks}{line}" for line in _WRAPS[name]) + indent_block(text, 4)
        return f"def {self.name_in_probe(item.name)}({', '.join(params)}):\n{text}"

    def _probe_parameters(self, node: Function) -> list[str]:
        """Return the parameters of a test that a check passes to the probe.

        They are those of `parametrize`, and fixtures that neither the test file nor the probe file makes.
        """
        return [name for name in parameters(node) if name not in self.fixtures and name not in _WRAPS]

    def name_in_probe(self, name: str) -> str:
        """Return the name that a function of the test file gets in the probe file.

        A fixture `rows` is renamed to `make_rows`, and a helper keeps its name. A test `test_empty` is named `empty`;
        if a student's function or a helper has that name, or it is not valid, the test is named `try_empty`.
        """
        if name in self.fixtures:
            return f"make_{name}"
        if name in self._helpers:
            return name
        short = name.removeprefix("test").strip("_")
        taken = short in {*self._names.values(), *self._helpers, *self._imported} or keyword.iskeyword(short)
        return f"try_{short}" if taken or not short.isidentifier() else short


def _generator_name(module: str, modules: Collection[str]) -> str:
    """Return the name of the variable for a generator that replaces a module's global one.

    It is "draws"; if generators of several modules are replaced, it is "numpy_draws" for `numpy.random`, for example.
    """
    return _GENERATOR if {*modules} <= {module} else f"{module.split('.')[0]}_{_GENERATOR}"


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def _all_parameters(function: Function | ast.Lambda) -> set[str]:
    """Return the names of all parameters of a function, those of `*args` and `**named` among them."""
    return {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}


def is_seed_call(node: ast.stmt) -> bool:
    """Return whether a statement does nothing but set a seed, such as `np.random.seed(0)`."""
    match node:
        case ast.Expr(value=ast.Call(func=function)):
            return _SEEDS.fullmatch(re.sub(r"^np\b", "numpy", ast.unparse(function))) is not None
    return False


def loaded_variables(items: Sequence[TopStatement], data: Collection[str]) -> set[str]:
    """Return the variables of a file whose values come from data files.

    If "a.csv" is such a file, those of `df = pd.read_csv("a.csv")` and `m = df.mean()` are `{"df", "m"}`.

    Args:
        items: the statements of the file.
        data: the names of the data files.
    """
    loaded = set[str]()
    for item in items:
        if isinstance(item.node, (Function, ast.ClassDef)):
            continue
        texts = [one.value for one in ast.walk(item.node) if isinstance(one, ast.Constant)]
        ends = [text.removeprefix("./") for text in texts if isinstance(text, str)]
        if item.uses & loaded or any(f"/{name}".endswith(f"/{end}") for end in ends if end for name in data):
            loaded |= item.binds
    return loaded


def _as_functions(item: TopStatement, source: CheckSource) -> str:
    """Return the source of a statement, with functions in place of a test class.

    A function in one line becomes one of several lines. Any other statement stays as it is.
    """
    node, text = item.node, item.text
    if not isinstance(node, (Function, ast.ClassDef)):
        return text
    if node.body[0].lineno == node.lineno:
        text = ast.unparse(node)
        (node,) = ast.parse(text).body
    if not isinstance(node, ast.ClassDef):
        return text
    bases = [source.import_path(base).rpartition(".")[2] for base in node.bases]
    return _class_body_as_functions(node, text) if node.name.startswith("Test") or "TestCase" in bases else text


def _class_body_as_functions(node: ast.ClassDef, text: str) -> str:
    """Return the body of a test class as statements at the top of a file.

    Its methods become functions without `self`: `test_two` of the class `TestSum` becomes `test_sum_two`.
    """
    first = node.body[0]
    body = indent_block("".join(lines_of(text)[first_line_number(first) - 1 : node.end_lineno]), -first.col_offset)
    statements, edits = ast.parse(body).body, Edits(body)
    methods = [one for one in statements if isinstance(one, Function)]
    targets = [target for one in statements if isinstance(one, ast.Assign) for target in one.targets]
    own = {one.name for one in methods} | {target.id for target in targets if isinstance(target, ast.Name)}
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", node.name.removeprefix("Test")).lower()
    marks = "".join(f"@{ast.unparse(one)}\n" for one in node.decorator_list)
    for method in methods:
        binds = [one for one in method.decorator_list if ast.unparse(one) in ("staticmethod", "classmethod")]
        for bind in binds:
            edits.drop(bind)
        if not binds or ast.unparse(binds[0]) == "classmethod":
            owner = parameters(method)[0] if parameters(method) else ""
            for one in ast.walk(method):
                match one:
                    # What a base class has is not here, and is reported.
                    case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == owner and attribute in own:
                        edits.replace(one, attribute)
            if owner:
                edits.drop_first_parameter(method)
        if method.name.startswith("test"):
            edits.insert_above(method, marks)
            edits.replace_name(method, f"test_{words}{method.name[4:]}")
    return edits.result()


def _has_expected_numbers(function: ast.AST) -> bool:
    """Return whether an assert or a list in a function has a number such as 0.25.

    Such a number may be an expected value. Tolerances do not count.
    """
    calls = [one for one in ast.walk(function) if isinstance(one, ast.Call)]
    bounds = [one for one in ast.walk(function) if isinstance(one, ast.Compare) and isinstance(one.ops[0], _BOUNDS)]
    asserts = [call for call in calls if ast.unparse(call.func).rpartition(".")[2].startswith(("assert", "allclose"))]
    near = [word.value for call in calls for word in call.keywords if word.arg in _NEAR]
    near += [arg for call in asserts for arg in call.args[2:]] + [one for bound in bounds for one in bound.comparators]
    close = {id(one) for each in near for one in ast.walk(each)}
    kinds = (ast.Assert, ast.List, ast.Tuple)
    wholes = [*asserts, *(one for one in ast.walk(function) if isinstance(one, kinds))]
    numbers = (one for whole in wholes for one in ast.walk(whole) if isinstance(one, ast.Constant))
    return any(isinstance(one.value, float) and not one.value.is_integer() and id(one) not in close for one in numbers)


def draws_from(path: str) -> str:
    """Return the module whose one generator a function draws from; "" for any other function.

    For the path "numpy.random.rand" it is "numpy.random".
    """
    module, _, name = path.rpartition(".")
    return module if name in DRAWN_BY.get(module, ()) else ""


def has_generator(node: ast.AST) -> bool:
    """Return whether a call has the argument `generator`."""
    return any(word.arg == "generator" for word in getattr(node, "keywords", ()))


# -- asserts -----------------------------------------------------------------------------------------------------------

WORDS = ("assert_dtype", "assert_isinstance", "assert_shape", "assert_tensor", "assert_values", "check", "facts")
"""What the new text may use of `grader.check`."""

_OURS = {*WORDS, "student", "reference", "rng", "probe", "files", "accelerator"}
"""What a helper of the test file cannot be called any more: the new text has something else of this name."""

_CLOSE = re.compile(r"torch\.testing\.assert_close|numpy\.testing\.assert_allclose|(torch|numpy)\.allclose")
_EQUAL = re.compile(r"torch\.equal|numpy\.(array_equal|testing\.assert_(array_)?equal)")
_IGNORED = {"check_device", "check_dtype", "check_layout", "equal_nan", "err_msg", "msg", "strict", "verbose"}
_OF_ANY_SHAPE = (ast.List, ast.Tuple, ast.ListComp, ast.Constant, ast.UnaryOp)
_CONVERSIONS = {"cpu", "detach", "numpy"}


def with_helpers(text: str) -> str:
    """Return a file in which functions of `grader.check` replace equivalent asserts.

    If `y` comes from student code, `assert y.shape == (3,)` becomes `assert_shape(y, (3,))`, and `y.requires_grad`
    becomes `facts(y).requires_grad`.
    """
    source, edits = CheckSource(ast.parse(text)), Edits(text)
    for scope in scopes(source):
        for node in scope.nodes:
            match node:
                case ast.Attribute(value=value, attr=name) if graph_attribute(scope, node):
                    new = f"facts({edits.text(value)}).{name}"
                case ast.Expr(value=ast.Call() as call):
                    new = _as_assert_values(scope, edits, call)
                case ast.Assert(test=test):
                    new = _rewrite_assert(scope, edits, test)
                case _:
                    continue
            if new:
                edits.replace(node, new)
    return edits.result()


def without_leftovers(text: str) -> str:
    """Return a check file without what does nothing in a check: a `print` of a text, and imports of unused names.

    Such imports are those inside of functions; their names may have been those of asserts that are replaced.
    """
    edits, rows = Edits(text), lines_of(text)
    for function in (node for node in ast.parse(text).body if isinstance(node, Function)):
        used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        for block in (getattr(node, "body", None) for node in ast.walk(function)):
            left = [*block] if isinstance(block, list) else []
            for statement in [*left]:
                is_alone = rows[statement.lineno - 1].strip() == edits.text(statement).strip()
                if is_alone and len(left) > 1 and _does_nothing(statement, used):
                    left.remove(statement)
                    edits.drop(statement)
    return edits.result()


def _does_nothing(node: ast.stmt, used: Collection[str]) -> bool:
    """Return whether a statement prints only literals, or imports only names that are not among `used`."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=args)):
            return all(isinstance(one, ast.Constant) for one in args)
    names = imported_names(node).keys()
    return bool(names) and "*" not in names and not names & {*used}


def _rewrite_assert(scope: Scope, edits: Edits, test: ast.expr) -> str:
    """Return the call of a function of `grader.check` that replaces an `assert`; else "".

    The condition `isinstance(y, torch.Tensor)` becomes "assert_tensor(y)", if `y` comes from student code. The argument
    `test` is the condition.
    """
    match test:
        case ast.Call(func=ast.Name(id="isinstance"), args=[value, kind]):
            # Of an object that stays in the worker, `isinstance` knows nothing.
            path = (
                scope.source.import_path(kind)
                if _comes_from_student(scope, value) or scope.kind(value) is ExprKind.OBJECT
                else ""
            )
            if path == "torch.Tensor":
                return f"assert_tensor({edits.text(value)})"
            return f"assert_isinstance({edits.text(value)}, {edits.text(kind)})" if path.startswith("torch.") else ""
        case ast.Call():
            return _as_assert_values(scope, edits, test)
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]) if near := (
            _approx_as_assert_values(scope, edits, left, right) or _approx_as_assert_values(scope, edits, right, left)
        ):
            return near
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            for one, expected in ((left, right), (right, left)):
                args = one.args if isinstance(one, ast.Call) and ast.unparse(one.func) in ("tuple", "list") else []
                got = args[0] if args else one
                if not isinstance(got, ast.Attribute) or not _comes_from_student(scope, got.value):
                    continue
                # A dtype of NumPy or pandas is not of a tensor.
                if got.attr == "shape" or (got.attr == "dtype" and not _is_foreign_dtype(scope, expected)):
                    return f"assert_{got.attr}({edits.text(got.value)}, {edits.text(expected)})"
    return ""


def _approx_as_assert_values(scope: Scope, edits: Edits, got: ast.expr, approx: ast.expr) -> str:
    """Return a comparison with `pytest.approx(...)` as a call of `assert_values`.

    If `y` is a number of the student's, `y == pytest.approx(0.5)` becomes "assert_values(y, 0.5, rtol=1e-6,
    atol=1e-12)". Return "" for any other comparison. `approx` also compares lists and dicts, of any kind, and
    `assert_values` does not.
    """
    if scope.source.import_path(approx) != "pytest.approx" or not _comes_from_student(scope, got):
        return ""
    match approx:
        case ast.Call(args=[expected], keywords=words) if {word.arg for word in words} <= {"rel", "abs"}:
            near = {word.arg or "": edits.text(word.value) for word in words}
        case _:
            return ""
    # An `assertAlmostEqual`, which has become this, compares numbers alone.
    if near.get("rel") != "0" and not _is_number_literal(expected):
        return ""
    relative = near.get("rel", "0" if "abs" in near else "1e-6")
    tolerances = f"rtol={relative}, atol={near.get('abs', '1e-12')}"
    return f"assert_values({edits.text(got)}, {edits.text(expected)}, {tolerances})"


def _is_number_literal(node: ast.expr) -> bool:
    """Return whether an expression is a number, or is computed from numbers that are written out, such as `2 / 3`."""
    match node:
        case ast.UnaryOp(operand=operand):
            return _is_number_literal(operand)
        case ast.BinOp(left=left, right=right):
            return _is_number_literal(left) and _is_number_literal(right)
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def _as_assert_values(scope: Scope, edits: Edits, call: ast.Call) -> str:
    """Return a call such as `torch.allclose` as a call of `assert_values`.

    `torch.allclose(y, torch.ones(3), atol=1e-3)` becomes "assert_values(y, torch.ones(3), atol=1e-3)". Return "" for
    any other call, and if `assert_values` would compare in another way.
    """
    path, words = scope.source.import_path(call), {word.arg or "**": edits.text(word.value) for word in call.keywords}
    exact = _EQUAL.fullmatch(path) is not None
    if not (exact or _CLOSE.fullmatch(path)) or not 2 <= len(call.args) <= 4:
        return ""
    words |= dict(zip(("rtol", "atol"), map(edits.text, call.args[2:]), strict=False))
    words = {name: value for name, value in words.items() if name not in _IGNORED}
    if not words.keys() <= {"rtol", "atol"}:
        return ""
    got, expected = call.args[:2]
    if _comes_from_student(scope, expected) and not _comes_from_student(scope, got):
        got, expected = expected, got
    if path.startswith("numpy.") and isinstance(expected, _OF_ANY_SHAPE):
        return ""  # NumPy compares a list with an array, and a number with each element; `assert_values` does not
    tolerances = {"rtol": "0", "atol": "0"} if exact else words
    compared = (_without_conversions(edits, value) for value in (got, expected))
    return f"assert_values({', '.join([*compared, *map('='.join, tolerances.items())])})"


def _without_conversions(edits: Edits, node: ast.expr) -> str:
    """Return an expression without `.cpu()`, `.detach()` and `.numpy()` at its end.

    `y.detach().cpu()` becomes "y", as `assert_values` does not need these conversions.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[], keywords=[]) if name in _CONVERSIONS:
            return _without_conversions(edits, value)
    return edits.text(node)


def _is_foreign_dtype(scope: Scope, node: ast.expr) -> bool:
    """Return whether an expression is a dtype of NumPy or Python instead of PyTorch.

    Examples are `np.float64`, `"int64"` and `float`.
    """
    path = scope.source.import_path(node) or ast.unparse(node)
    of_python = ("float", "int", "bool", "complex", "object")
    return isinstance(node, ast.Constant) or path in of_python or path.startswith("numpy.")


def _comes_from_student(scope: Scope, node: ast.expr) -> bool:
    """Return whether a value certainly comes from student code."""
    return scope.kind(node) in (ExprKind.RESULT, ExprKind.DERIVED, ExprKind.MEMBER)
