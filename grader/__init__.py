"""tensorgrade: exercises about PyTorch tensors, and what grades them. `from grader import draw, explain`.

Type checkers read `__init__.pyi`. This file imports nothing: a typed command waits for its imports.
"""

_OF_DRAWING = ("draw", "explain")


def __getattr__(name: str) -> object:
    """Return what is there for a student's own code; it is imported when it is used, because it needs PyTorch."""
    if name in _OF_DRAWING:
        import importlib

        return getattr(importlib.import_module("grader.drawing.for_you"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
