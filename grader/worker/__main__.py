"""`python -m grader.worker server FD LAUNCHED` or `… spawned LAUNCHED`, where `messages.Launched` is the launcher's.

Threads are limited first: a fork after parallel work hangs. Imports are made without Python's garbage collector, which
would go over PyTorch's objects again and again, a fifth of the time, and find hardly anything to free.
"""

import gc

gc.disable()

import torch  # noqa: E402

torch.set_num_threads(1)

import os  # noqa: E402
import sys  # noqa: E402

from grader.sandbox.messages import Launched, from_text  # noqa: E402


def main() -> None:
    """Become a worker server, or a worker."""
    if sys.argv[1] == "server":
        import socket

        from grader.worker import server

        server.run(socket.socket(fileno=int(sys.argv[2])), _launched(sys.argv[3]))
        # Its workers are ended. Python would now take torch apart, and the host would wait for it.
        os._exit(0)
    else:
        from grader.worker.start import spawned

        gc.enable()
        spawned(_launched(sys.argv[2]))


def _launched(text: str) -> Launched:
    message = from_text(text)
    assert isinstance(message, Launched)
    return message


if __name__ == "__main__":
    main()
