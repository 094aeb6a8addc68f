"""Which requests the server answers: each that another page could send is refused."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from grader.web.guard import RequestGuard

TOKEN, PORT = "secret", 8123
COOKIE = f"tensorgrade-{PORT}={TOKEN}"


def asked(
    kind: str = "http", query: str = "", prefix: str = "", hosts: tuple[str, ...] = (), **headers: str
) -> tuple[list[MutableMapping[str, Any]], list[MutableMapping[str, Any]]]:
    """What a request is answered, and the scopes that reached the pages."""
    reached: list[MutableMapping[str, Any]] = []
    sent: list[MutableMapping[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        return {}

    given = {"host": f"127.0.0.1:{PORT}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    pairs = [(name.encode(), value.encode()) for name, value in given.items()]
    scope = {"type": kind, "path": "/x", "query_string": query.encode(), "headers": pairs}
    # In a thread of its own: a browser that other tests drive has a running loop in this one.
    with ThreadPoolExecutor(1) as threads:
        threads.submit(
            lambda: asyncio.run(RequestGuard(app, TOKEN, PORT, prefix, hosts)(scope, receive, send))
        ).result()
    return sent, reached


REFUSED = {
    "without a token": {},
    "with a wrong cookie": {"cookie": f"tensorgrade-{PORT}=other"},
    "with a wrong token": {"query": "token=other"},
    "by another name (DNS rebinding)": {"cookie": COOKIE, "host": "evil.example:8123"},
    "of another port": {"cookie": COOKIE, "host": "127.0.0.1:1"},
    "from another origin (CSRF)": {"cookie": COOKIE, "origin": "http://evil.example"},
    "from another port's page": {"cookie": COOKIE, "origin": "http://127.0.0.1:9999"},
    "from a page without an origin": {"cookie": COOKIE, "origin": "null"},
    "from another site": {"cookie": COOKIE, "sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"},
}


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize("how", REFUSED)
def test_a_request_is_refused(how: str, kind: str) -> None:
    """No page sees it, neither as a request nor as a WebSocket."""
    sent, reached = asked(kind, **REFUSED[how])  # type: ignore[arg-type]
    assert reached == []
    assert sent[0].get("status", sent[0].get("code")) in (403, 1008)


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_own_pages_are_answered(kind: str) -> None:
    """With the cookie, from our own origin."""
    _, reached = asked(kind, cookie=COOKIE, origin=f"http://127.0.0.1:{PORT}")
    assert len(reached) == 1


def test_the_token_becomes_a_cookie() -> None:
    """It does not stay in the address, and no script reads it."""
    sent, reached = asked(query=f"token={TOKEN}&a=1")
    headers = dict(sent[0]["headers"])
    assert (reached, sent[0]["status"], headers[b"location"]) == ([], 303, b"/x?a=1")
    assert headers[b"set-cookie"].endswith(b"; Path=/; HttpOnly; SameSite=Strict")


def test_pages_load_nothing_from_elsewhere() -> None:
    """The browser is told to refuse it."""
    sent, _ = asked(cookie=COOKIE)
    policy = dict(sent[0]["headers"])[b"content-security-policy"]
    assert b"default-src 'self'" in policy
    assert b"http" not in policy


def test_behind_a_proxy() -> None:
    """Pages learn the prefix that was typed, never one that a request brings."""
    _, (scope,) = asked(cookie=COOKIE, prefix="/user/me/proxy/8123", hosts=("hub.example",), host="hub.example")
    assert dict(scope["headers"])[b"x-forwarded-prefix"] == b"/user/me/proxy/8123"
    _, (scope,) = asked(cookie=COOKIE, x_forwarded_prefix="/evil")
    assert b"x-forwarded-prefix" not in dict(scope["headers"])
    sent, _ = asked(query=f"token={TOKEN}", prefix="/p")
    assert dict(sent[0]["headers"])[b"location"] == b"/p/x"


def handed_on(*messages: str) -> None:
    """Have an application fail after it has received these messages, as middleware does without an answer."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        del scope, send
        for _ in messages:
            await receive()
        raise RuntimeError("No response returned.")

    received = iter(messages)

    async def receive() -> MutableMapping[str, Any]:
        return {"type": next(received)}

    async def send(message: MutableMapping[str, Any]) -> None:
        raise AssertionError(message)

    headers = [(b"host", f"127.0.0.1:{PORT}".encode()), (b"cookie", COOKIE.encode())]
    scope = {"type": "http", "path": "/x", "query_string": b"", "headers": headers}
    with ThreadPoolExecutor(1) as threads:
        threads.submit(lambda: asyncio.run(RequestGuard(app, TOKEN, PORT)(scope, receive, send))).result()


def test_a_browser_that_goes_on_leaves_no_traceback() -> None:
    """Who clicks twice leaves a page before it is built: nothing of that is raised, and all else is."""
    handed_on("http.request", "http.disconnect")
    with pytest.raises(RuntimeError, match="No response returned"):
        handed_on("http.request")
