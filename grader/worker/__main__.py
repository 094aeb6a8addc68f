"""`python -m grader.worker WITH server FD LAUNCHED`, or `… WITH spawned`.

WITH is "torch", or "plain" for a process that never has PyTorch and NumPy. LAUNCHED is the launcher's
`start_messages.Launched`.

Threads are limited first. Imports are made without Python's garbage collector, which would go over PyTorch's objects
again and again, a fifth of the time, and find hardly anything to free.
"""

import gc

gc.disable()

import sys  # noqa: E402

from grader.sandbox.datagrams import from_text  # noqa: E402
from grader.sandbox.start_messages import Launched  # noqa: E402
from grader.worker.libraries import Libraries  # noqa: E402


def _import_libraries(what: str) -> Libraries:
    if what == "plain":
        return Libraries()
    import torch

    torch.set_num_threads(1)
    from grader.worker.with_torch import WithTorch

    return WithTorch()


def main() -> None:
    """Run the worker server, or one worker in this fresh interpreter.

    The arguments of the process decide: see the docstring of this module.
    """
    libraries = _import_libraries(sys.argv[1])
    if sys.argv[2] == "server":
        from grader.worker import server

        reached = from_text(sys.argv[4])
        assert isinstance(reached, Launched)
        server.prepare(libraries)
        gc.enable()
        server.run(int(sys.argv[3]), reached, libraries)
    else:
        from grader.worker.serve import run_spawned

        gc.enable()
        run_spawned(libraries)


if __name__ == "__main__":
    main()
