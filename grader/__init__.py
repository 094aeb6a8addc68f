"""tensorgrade: exercises about PyTorch tensors, and what grades them. `from grader import draw, explain`.

Type checkers read `__init__.pyi`. This file imports nothing: a typed command waits for its imports.
"""

_OF_DRAWING = ("draw", "explain")


def __getattr__(name: str) -> object:
    """Return `draw` or `explain`; they are imported when they are first used, because they need PyTorch."""
    if name in _OF_DRAWING:
        import importlib

        return getattr(importlib.import_module("grader.drawing.for_you"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
