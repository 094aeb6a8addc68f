"""`python -m grader.worker server FD` or `… spawned`. Threads are limited first: a fork after parallel work hangs."""

import torch

torch.set_num_threads(1)

import sys  # noqa: E402


def main() -> None:
    """Become a worker server, or a worker."""
    if sys.argv[1] == "server":
        import socket

        from grader.worker import server

        server.run(socket.socket(fileno=int(sys.argv[2])))
    else:
        from grader.worker import spawned

        spawned.run()


if __name__ == "__main__":
    main()
