"""`python -m grader.worker server FD LAUNCHED`, where `messages.Launched` is the launcher's; or `… spawned`.

Threads are limited first: a fork after parallel work hangs. Imports are made without Python's garbage collector, which
would go over PyTorch's objects again and again, a fifth of the time, and find hardly anything to free.
"""

import gc

gc.disable()

import torch  # noqa: E402

torch.set_num_threads(1)

import os  # noqa: E402
import sys  # noqa: E402


def main() -> None:
    """Become a worker server, or a worker."""
    if sys.argv[1] == "server":
        from grader.worker import server

        server.run(int(sys.argv[2]), sys.argv[3])
        # Its workers are ended. Python would now take torch apart, and the host would wait for it.
        os._exit(0)
    else:
        from grader.worker.serve import spawned

        gc.enable()
        spawned()


if __name__ == "__main__":
    main()
