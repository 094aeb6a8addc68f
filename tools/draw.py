"""Draw functions of the engine at random, to read them as a newcomer would.

    python tools/draw.py SEED [--count 30] [--package grader/report]

It prints where each one is, its signature and its docstring. No name and no first line should have to be read twice.
"""

from __future__ import annotations

import argparse
import ast
import random
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Function(NamedTuple):
    """A function or method of the engine that has a docstring.

    Attributes:
        place: the path from the root of the repository, with the line.
        signature: the signature as it is written, with the class of a method.
        docstring: the docstring without its indentation.
    """

    place: str
    signature: str
    docstring: str


def functions_in(path: Path) -> Iterator[Function]:
    """Yield the functions and methods of a file that have a docstring."""
    todo: list[tuple[ast.AST, str]] = [(ast.parse(path.read_text(encoding="utf-8")), "")]
    while todo:
        parent, prefix = todo.pop(0)
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, ast.ClassDef):
                todo.append((node, f"{prefix}{node.name}."))
            elif isinstance(node, _FUNCTIONS) and (docstring := ast.get_docstring(node)):
                returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
                signature = f"{prefix}{node.name}({ast.unparse(node.args)}){returns}"
                yield Function(f"{path.relative_to(ROOT)}:{node.lineno}", signature, docstring)


def draw(seed: int, count: int, folder: Path) -> list[Function]:
    """Draw functions at random from the files of a folder; a seed always draws the same ones of the same code.

    Args:
        seed: the seed of the generator.
        count: the number of functions.
        folder: the folder from whose files they are drawn.
    """
    everything = [function for path in sorted(folder.rglob("*.py")) for function in functions_in(path)]
    return random.Random(seed).sample(everything, min(count, len(everything)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the functions that a seed draws."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("seed", type=int, help="the same seed draws the same functions")
    parser.add_argument("--count", type=int, default=30, help="how many; by default 30")
    parser.add_argument("--package", type=Path, default=Path("grader"), help="the folder that they are drawn from")
    options = parser.parse_args(arguments)
    for number, function in enumerate(draw(options.seed, options.count, ROOT / options.package), 1):
        print(f"{number}. {function.place}\n   {function.signature}")
        print(f"{textwrap.indent(function.docstring, '       ')}\n")


if __name__ == "__main__":
    main()
