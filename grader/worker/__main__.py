"""`python -m grader.worker server FD TOLD` or `… spawned [TOLD]`, where TOLD is from `grader.confine.launch`.

Threads are limited first: a fork after parallel work hangs.
"""

import torch

torch.set_num_threads(1)

import json  # noqa: E402
import sys  # noqa: E402


def main() -> None:
    """Become a worker server, or a worker."""
    if sys.argv[1] == "server":
        import socket

        from grader.worker import server

        server.run(socket.socket(fileno=int(sys.argv[2])), json.loads(sys.argv[3]))
    else:
        from grader.worker import spawned

        spawned.run(json.loads(sys.argv[2]) if len(sys.argv) > 2 else {})


if __name__ == "__main__":
    main()
