"""An editor of code. What is typed belongs to the browser: the server learns of it, and never overwrites it.

NiceGUI sends all properties of an element when one of them changes, and an editor then takes the text that the server
knows: a character that was typed while the message was under way is lost. So nothing of an editor is changed by the
server once it is shown. Its colours, a line that is marked, and another text come by scripts, and another text only if
the browser still has the text that it replaces.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from nicegui import ui
from nicegui.awaitable_response import AwaitableResponse

_IN_EDITOR = """
(async () => {
  // The component and its editor are loaded after the page is connected.
  while (!getElement(%(id)s)?.editor) await new Promise(done => setTimeout(done, 50));
  const element = getElement(%(id)s), editor = element.editor;
  %(script)s
})()
"""
_DRESS = """
  if (element.tensorgrade) return;
  element.tensorgrade = true;  // a browser can connect again
  editor.contentDOM.setAttribute('aria-label', %(name)s);
  editor.contentDOM.setAttribute('tabindex', '0');
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const paint = () => element.setTheme(dark.matches ? 'vscodeDark' : 'vscodeLight');
  dark.addEventListener('change', paint);
  paint();
"""
_REPLACE = """
  const old = editor.state.doc.toString(), text = %(text)s, expected = %(expected)s;
  if (expected !== null && old !== expected) return old;
  const most = Math.min(old.length, text.length), splits = at => at > 0 && /[\\uDC00-\\uDFFF]/.test(old[at] ?? '');
  let start = 0, end = 0;
  while (start < most && old[start] === text[start]) start++;
  if (splits(start)) start--;  // a character of two halves is replaced as a whole
  while (end < most - start && old[old.length - 1 - end] === text[text.length - 1 - end]) end++;
  if (splits(old.length - end)) end--;
  editor.dispatch({changes: {from: start, to: old.length - end, insert: text.slice(start, text.length - end)}});
  return text;
"""
_MARK = "element.setDecorations(%(parts)s);"
_WAIT_S = 5.0


def show_editor(
    text: str,
    name: str,
    on_change: Callable[[], object] | None = None,
    keys: Mapping[str, Callable[[], object]] | None = None,
    *,
    reads_only: bool = False,
) -> ui.codemirror:
    """Build an editor of Python in the browser's colours.

    Its `value` is the text that the browser sent last.

    Args:
        text: the text of the editor at first.
        name: a name of the editor for screen readers.
        on_change: a callback for each change in the browser.
        keys: the callbacks for keys, by the name of the key.
        reads_only: True if nothing can be typed.
    """
    editor = ui.codemirror(text, language="Python", line_wrapping=True, on_change=on_change, keymap=dict(keys or {}))
    if reads_only:
        editor.disable()
    client = ui.context.client

    def dress() -> None:
        _run_script(editor, _DRESS, name=name)

    if client.has_socket_connection:
        dress()
    client.on_connect(dress)
    return editor


def _run_script(editor: ui.codemirror, script: str, **values: object) -> AwaitableResponse:
    """Run a script in the browser, where `element` and `editor` name the editor.

    Values replace names in the script, as JSON: with `text="a"`, `old === %(text)s` becomes `old === "a"`.
    """
    filled = script % {name: json.dumps(value) for name, value in values.items()}
    return editor.client.run_javascript(_IN_EDITOR % {"id": editor.id, "script": filled}, timeout=_WAIT_S)


async def replace_text(editor: ui.codemirror, text: str, expected: str | None = None) -> str:
    """Replace the text of an editor, and return the text that it shows then.

    Args:
        editor: the editor; its cursor and its history stay.
        text: the new text.
        expected: the text to replace; if the editor shows any other text, nothing is changed. None to replace any text.

    Raises:
        TimeoutError: there is no connection.
    """
    return str(await _run_script(editor, _REPLACE, text=text, expected=expected))


def mark(editor: ui.codemirror, start: int, end: int, name: str) -> None:
    """Mark a part of an editor's text, and remove the mark that was there.

    Args:
        editor: the editor.
        start: the start of the part, as an index of the text.
        end: the end of the part; if it is not after the start, nothing is marked.
        name: the CSS class of the mark.
    """
    part = {"kind": "mark", "from": start, "to": end, "class": name}
    _run_script(editor, _MARK, parts=[part] if start < end else [])
