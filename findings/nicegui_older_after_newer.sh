#!/usr/bin/env bash
# NiceGUI: a page loses its connection with a message under way, and an element is changed while it is away.
#
# Guess before the run: what the browser missed is sent again in the order in which it happened; so the label that was
# changed to "older" and then, without a connection, to "newer" shows "newer".
# Seen with nicegui 3.18.0, and a browser's part of the protocol played by python-socketio:
#   shown after the reconnection: older, at last; the label of the server is "newer"
# Changes that wait for a connection are sent before the messages that are sent again. The page stays at the old state
# until the element changes once more. What helps: at a reconnection, to show nothing before the browser has answered a
# run_javascript, which is sent after those messages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/look.py" <<'PY'
import asyncio
import importlib.metadata
import os
import socket
import sys
import urllib.request
from urllib.parse import urlencode

import socketio
from nicegui import app, ui

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    URL = "http://127.0.0.1:%d" % (PORT := free.getsockname()[1])
built = {}


@ui.page("/")
def page():
    built["label"], built["client"] = ui.label("first"), ui.context.client


class Browser:
    """What the browser does with messages: it ignores old numbers, and asks for the next one when it comes back."""

    def __init__(self):
        self.next_message, self.shown = 0, []

    def is_new(self, data):
        number = data.pop("_id", self.next_message)
        if number < self.next_message:
            return False
        self.next_message = number + 1
        return True

    def on_update(self, data):
        if self.is_new(data):
            self.shown += [element["text"] for element in data.values() if element and element.get("text")]

    async def connect(self):
        connection = socketio.AsyncClient(reconnection=False)
        connection.on("update", self.on_update)
        for other in ("run_javascript", "load_js_components"):
            connection.on(other, self.is_new)
        query = {"client_id": built["client"].id, "next_message_id": self.next_message, "implicit_handshake": "true"}
        query |= {"document_id": "document", "tab_id": "tab", "old_tab_id": ""}
        path = "/_nicegui_ws/socket.io"
        await connection.connect(f"{URL}/?{urlencode(query)}", socketio_path=path, transports=["websocket"])
        await asyncio.sleep(1)
        return connection


async def look():
    await asyncio.sleep(1)
    await asyncio.to_thread(lambda: urllib.request.urlopen(URL).read())
    browser = Browser()
    connection = await browser.connect()
    received = browser.next_message
    built["label"].text = "older"
    await asyncio.sleep(1)
    await connection.disconnect()
    browser.next_message = received  # the message with "older" was under way when the connection broke
    browser.shown.clear()
    await asyncio.sleep(1)
    built["label"].text = "newer"
    connection = await browser.connect()
    print(f"nicegui {importlib.metadata.version('nicegui')}: the server's label is {built['label'].text!r},", end=" ")
    print(f"the browser was sent, in this order: {browser.shown}", flush=True)
    os._exit(0 if browser.shown == ["newer", "older"] else 1)


async def look_or_fail():
    try:
        await asyncio.wait_for(look(), 60)
    except BaseException as error:
        print(repr(error), file=sys.stderr, flush=True)
        os._exit(1)


app.on_startup(lambda: built.update(task=asyncio.create_task(look_or_fail())))
ui.run(host="127.0.0.1", port=PORT, reload=False, show=False, reconnect_timeout=30, show_welcome_message=False)
PY
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} nicegui==3.18.0
"$folder/venv/bin/python" "$folder/look.py" || { echo "the behaviour has changed" >&2; exit 1; }
