"""Which requests are answered: those that name this server, come from its own pages, and have its token.

A page of another site can send requests to 127.0.0.1, and with DNS rebinding even read the answers. So the host must be
ours, the origin must be that host, and the token, which only the address in the terminal has, must be there. The first
request with the token gets it as a cookie, so that it does not stay in the address.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'; object-src 'none'"
)
"""Pages load nothing from elsewhere: the browser refuses it."""

_CLOSE_REFUSED = 1008
_PREFIX = b"x-forwarded-prefix"


def new_token() -> str:
    """Return a new secret for one run of the server."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class RequestGuard:
    """An application that hands allowed requests on to another one.

    Attributes:
        app: the other application.
        token: the token that requests must have.
        port: the port of the server.
        prefix: the beginning of paths that a proxy takes away, such as /user/me/proxy/8123, or "".
        hosts: names that this server has besides 127.0.0.1 and localhost: that of a proxy.
        ends: an event that is set when the server ends: a page that is still open asks again and again.
    """

    app: App
    token: str
    port: int
    prefix: str = ""
    hosts: tuple[str, ...] = field(default=())
    ends: threading.Event = field(default_factory=threading.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request that is not allowed, or hand it on to the application."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        query = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))
        refusal = self._why_refused(headers)
        if refusal:
            await _refuse(scope, send, refusal)
        elif self._is_token(query.get("token", "")) and scope["type"] == "http":
            await self._set_cookie(scope, query, send)
        elif not self._is_token(self._cookie_value(headers)):
            await _refuse(scope, send, "This page needs the whole address that `grade web` printed, with its token.")
        else:
            kept = [(name, value) for name, value in scope["headers"] if name.lower() != _PREFIX]
            scope["headers"] = [*kept, *([(_PREFIX, self.prefix.encode())] if self.prefix else [])]
            await self._pass_on(scope, receive, _with_policy(send))

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the application.

        A `RuntimeError` of the application is ignored if the browser has left meanwhile.
        """
        has_left = False

        async def receive_and_look() -> MutableMapping[str, Any]:
            nonlocal has_left
            message = await receive()
            has_left = has_left or message["type"] == "http.disconnect"
            return message

        try:
            await self.app(scope, receive_and_look, send)
        except RuntimeError:  # what middleware of the application raises then
            if not has_left:
                raise

    def _why_refused(self, headers: Mapping[str, str]) -> str:
        """Return why a request is refused even with the token; "" if its headers are acceptable.

        While the server is ending, all requests are refused.
        """
        if self.ends.is_set():
            return "The server ends."
        host = headers.get("host", "")
        if host not in self._own_hosts():
            return "This server does not have the name that the request gave it."
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return "This request came from a page of another site."
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            return "This request came from a page of another site."
        return ""

    def _own_hosts(self) -> tuple[str, ...]:
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}", *self.hosts)

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode(), self.token.encode())

    @property
    def cookie_name(self) -> str:
        """The name of the cookie with the token, such as "tensorgrade-8123" for port 8123.

        It has the port, as a browser sends cookies to all ports of a host.
        """
        return f"tensorgrade-{self.port}"

    def _cookie_value(self, headers: Mapping[str, str]) -> str:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self.cookie_name)
        except CookieError:
            return ""
        return cookie.value if cookie is not None else ""

    async def _set_cookie(self, scope: Scope, query: Mapping[str, str], send: Send) -> None:
        """Set the token as a cookie, and redirect the browser to the same address without it.

        `/drill?token=TOKEN` is redirected to `/drill`.
        """
        rest = urlencode({name: value for name, value in query.items() if name != "token"})
        path = scope.get("path", "/")
        target = f"{self.prefix}/{path.lstrip('/')}" + (f"?{rest}" if rest else "")
        cookie = f"{self.cookie_name}={self.token}; Path={self.prefix or '/'}; HttpOnly; SameSite=Strict"
        headers = [(b"location", target.encode("latin-1", "ignore")), (b"set-cookie", cookie.encode())]
        headers += [(b"cache-control", b"no-store"), (b"referrer-policy", b"no-referrer")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _with_policy(send: Send) -> Send:
    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            more = [(b"content-security-policy", _POLICY.encode()), (b"x-content-type-options", b"nosniff")]
            message["headers"] = [*message.get("headers", []), *more, (b"referrer-policy", b"no-referrer")]
        await send(message)

    return sent


async def _refuse(scope: Scope, send: Send, reason: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": _CLOSE_REFUSED, "reason": reason})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": f"{reason}\n".encode()})
