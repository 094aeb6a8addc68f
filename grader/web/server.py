"""The server of `grade web`: bound to this machine, with a token in its address; it ends with Ctrl-C."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI
from nicegui import ui

from grader.model.errors import CourseError
from grader.web.guard import RequestGuard, new_token

_HOST = "127.0.0.1"
_KEEPS_S = 12 * 3600.0
"""So long the server keeps a page whose connection is lost: a laptop that slept goes on where it was."""


@dataclass(frozen=True)
class Address:
    """The address of the server.

    Attributes:
        port: the port on 127.0.0.1.
        token: the token in the address.
        prefix: the prefix of a proxy, or "".
    """

    port: int
    token: str
    prefix: str = ""

    @property
    def url(self) -> str:
        """The address to open, such as "http://127.0.0.1:8123/?token=TOKEN"."""
        return f"http://{_HOST}:{self.port}/?token={self.token}"


def open_socket(port: int) -> socket.socket:
    """Return a socket that listens on this machine alone.

    Args:
        port: the port; 0 for any free one.

    Raises:
        CourseError: the port is taken.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":  # there, it would allow a second server on the same port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_HOST, port))
    except OSError as error:
        listener.close()
        raise CourseError(f"port {port} cannot be used: {error.strerror}; choose another with --port") from None
    listener.listen(64)
    return listener


def serve(
    listener: socket.socket,
    title: str,
    ready: Callable[[Address], None],
    *,
    prefix: str = "",
    hosts: Sequence[str] = (),
    opens: bool = True,
) -> None:
    """Run the server of all declared pages, until Ctrl-C or SIGTERM.

    Args:
        listener: the socket, as `open_socket` returns it.
        title: the title of the pages.
        ready: a callback, which is called with the address before the first request.
        prefix: the beginning of paths that a proxy removes, such as /user/me/proxy/8123; "" without one.
        hosts: the names of a proxy, with its port if that is unusual.
        opens: True to open a browser.
    """
    address = Address(listener.getsockname()[1], os.environ.get("TENSORGRADE_WEB_TOKEN") or new_token(), prefix)
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    ui.run_with(
        app,
        title=title,
        dark=None,
        language="en-US",
        tailwind=False,
        show_welcome_message=False,
        reconnect_timeout=_KEEPS_S,
        binding_refresh_interval=None,
    )
    # Pings as usual: NiceGUI makes them as rare as the time that it waits for a browser.
    app.router.on_startup.append(_restore_usual_pings)
    guard = RequestGuard(app, address.token, address.port, prefix, tuple(hosts))
    config = uvicorn.Config(guard, log_level="warning", ws="websockets-sansio", timeout_graceful_shutdown=1)
    config.load()
    server = uvicorn.Server(config)
    logging.getLogger("nicegui").setLevel(logging.ERROR)
    ready(address)
    if opens:
        threading.Thread(target=webbrowser.open, args=[address.url], daemon=True).start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: _stop_server(server, guard))
    server.run(sockets=[listener])


def _restore_usual_pings() -> None:
    from nicegui import core

    core.sio.eio.ping_interval, core.sio.eio.ping_timeout = 5, 5


def _stop_server(server: uvicorn.Server, guard: RequestGuard) -> None:
    guard.ends.set()
    server.should_exit = True
