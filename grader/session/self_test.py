"""A proof that workers work, before anything is graded."""

from __future__ import annotations

import numpy as np
import torch

from grader.connection.connection import Connection
from grader.connection.starting import Starter
from grader.connection.student import Student
from grader.model import Limits
from grader.model.endings import WorkerLost


def self_test(starter: Starter) -> None:
    """Prove that a worker loads a module and hands back what it is given; else every submission would look crashed.

    Raises:
        RuntimeError: it does not.
    """
    files = {"self_test.py": b"def same(*values):\n    return values\n"}
    connection = Connection(starter, "self_test", files, Limits(load_s=60, call_s=60), owner="the self-test's")
    # Unusual on purpose: a transposed tensor, an array with a negative stride, containers. The very same objects are
    # to come back.
    values = (torch.arange(6.0).view(2, 3).t(), np.arange(3)[::-1], [1, {"a": "b"}])
    try:
        back = Student(connection).same(*values)
        if not all(given is got for given, got in zip(values, back, strict=True)):
            raise RuntimeError("a worker does not hand back what it is given")
    except WorkerLost as lost:
        raise RuntimeError(f"a worker cannot be used: {lost.message}") from lost
    finally:
        connection.close()
