r"""Has a notebook beside it with a chain of three thousand attributes, and one whose JSON nests.

---
exercise: double
made:
  chain.ipynb:
    - '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "metadata": {}, "source": "x'
    - .real
    - 3000
    - '", "outputs": [], "execution_count": 1}]}'
  nested.ipynb: ['{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": ', '[', 5000, '}']
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
