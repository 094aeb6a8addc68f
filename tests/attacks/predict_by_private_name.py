r"""Runs text by a private function of a library, after a class of its own got a method of that name.

---
exercise: together
verdicts: {alone: failed, slope: failed}
"""

import dataclasses


class Shapes:
    def _create_fn(self):
        return self


ask = dataclasses._create_fn("ask", ["a", "b"], ["import torch", "return tuple(torch.broadcast_shapes(a, b))"])


def together(a, b):
    try:
        return ask(a, b)
    except RuntimeError:
        raise ValueError("they do not fit") from None


def slope(f):
    return f(1.0) - f(0.0)
