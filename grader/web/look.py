"""What all pages have in common: style, the head with its links, small parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape

from nicegui import ui

_CSS = """
:root { color-scheme:light dark; }
:root { --paper:#ffffff; --ink:#1b1f24; --soft:#57606a; --line:#d0d7de; --code:#f3f5f7; --pass:#0a5a9c; --fail:#a33a00;
  --open:#5b4a9e; --warm:#fdf4ec; --card:#ffffff; --back:#f6f8fa; --accent:#0a5a9c; --on-accent:#ffffff; }
@media (prefers-color-scheme: dark) { .cm-editor .cm-gutterElement { color:#9aa3ac; } }
@media (prefers-color-scheme: dark) { :root { --paper:#14181d; --ink:#e6e9ed; --soft:#a9b3bd; --line:#3a434d;
  --code:#1f262d; --pass:#7cc0ff; --fail:#ffa86b; --open:#c3b5ff; --warm:#2a211a; --card:#191e24; --back:#0f1317;
  --accent:#7cc0ff; --on-accent:#0b1a28; } }
@media (prefers-color-scheme: dark) {
  svg.cells > rect, figure svg > rect { fill:var(--code); }
  svg.cells text[fill="#1b1f24"], figure text[fill="#1b1f24"] { fill:var(--ink); }
  svg.cells text[fill="#4b5563"], figure text[fill="#6b7280"] { fill:var(--soft); }
  svg.cells rect[fill="#ffffff"] { fill:var(--code); }
  [fill="#d5ebf8"] { fill:#12344c; } text[fill="#0072B2"], text[fill="#0b3a57"] { fill:#9bd0f5; }
  [fill="#fbe2d3"] { fill:#4d2912; } text[fill="#a3541b"], text[fill="#D55E00"] { fill:#ffb184; }
  [fill="#d3efe5"] { fill:#0c3d30; } text[fill="#00795a"] { fill:#7fdcbf; }
  [fill="#f5deee"] { fill:#442139; } text[fill="#8a4a79"] { fill:#eab0d9; }
  [fill="#f3efc4"] { fill:#3b370d; } text[fill="#6f6400"] { fill:#ddd27a; }
  [stroke="#0072B2"] { stroke:#4f9fd6; } [stroke="#a3541b"] { stroke:#d8814a; } [stroke="#00795a"] { stroke:#3fae8c; }
  [stroke="#8a4a79"] { stroke:#c07fac; } [stroke="#6f6400"] { stroke:#a99d3a; } }
body { background:var(--back) !important; color:var(--ink) !important; font:16px/1.5 system-ui, sans-serif; }
.nicegui-content { padding:0 !important; gap:0 !important; align-items:stretch !important; }
.page { max-width:110rem; margin:0 auto; padding:1rem; width:100%; box-sizing:border-box; }
.top { display:flex; flex-wrap:wrap; gap:.25rem 1.25rem; align-items:baseline; padding:.6rem 1rem; width:100%;
  box-sizing:border-box; border-bottom:1px solid var(--line); background:var(--card); }
.top .name { font-weight:700; margin-right:auto; }
a, .top a { color:var(--accent); text-underline-offset:.15em; }
h1 { font-size:1.5rem !important; line-height:1.25 !important; margin:.25rem 0 .75rem !important; font-weight:700; }
h2 { font-size:1.1rem !important; line-height:1.35 !important; margin:1rem 0 .4rem !important; font-weight:700; }
.card { background:var(--card); border:1px solid var(--line); border-radius:8px; padding:.9rem 1rem; min-width:0;
  box-sizing:border-box; width:100%; }
.card > h2:first-child { margin-top:0 !important; } .card.task > div:first-child > p:first-child { margin-top:0; }
.soft { color:var(--soft); } .small { font-size:.85rem; font-weight:400; }
.cause { border-left:4px solid var(--fail); background:var(--warm); padding:.4rem .75rem; max-height:13rem;
  overflow-y:auto; } .cause pre { margin:0 0 .25rem; white-space:pre-wrap; overflow-wrap:anywhere;
  font:.88rem/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace; } .cause p { margin:.25rem 0; font-weight:600; }
.first > div > p { margin:.4rem 0; }
button.b, a.b { display:inline-block; font:inherit; font-size:.95rem; padding:.35rem .8rem; border-radius:6px;
  cursor:pointer; border:1px solid var(--line); background:var(--card); color:var(--ink); text-decoration:none; }
button.b.first, a.b.first { background:var(--accent); color:var(--on-accent); border-color:var(--accent); }
button.b:disabled { opacity:.6; cursor:default; }
:focus-visible { outline:3px solid var(--accent) !important; outline-offset:2px; }
.in-line { display:flex; flex-wrap:wrap; gap:.5rem; align-items:center; }
section .in-line, details .in-line { margin:.5rem 0; }  /* Quasar has a class `row` of its own */
pre.code { background:var(--code); color:var(--ink); padding:.5rem .75rem; border-radius:6px; overflow-x:auto;
  font:.88rem/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace; margin:.4rem 0; white-space:pre; }
code { background:var(--code); border-radius:4px; padding:0 .25em; font:.9em ui-monospace, Menlo, Consolas, monospace; }
.bar { height:.6rem; background:var(--code); border:1px solid var(--line); border-radius:6px; overflow:hidden; }
.bar > div { height:100%; background:var(--accent); }
table.list { width:100%; border-collapse:collapse; }
table.list th, table.list td { text-align:left; padding:.35rem .5rem; border-top:1px solid var(--line);
  font-weight:400; }
table.list caption { text-align:left; padding:.75rem .5rem .25rem; }
table.list thead th { border-top:0; color:var(--soft); font-size:.85rem; }
table.list td.num, table.list th.num { text-align:right; font-variant-numeric:tabular-nums; white-space:nowrap; }
table.fixed { table-layout:fixed; } table.fixed th.num { width:5.5rem; } table.fixed th.where { width:7rem; }
.state { white-space:nowrap; font-weight:600; } .state.done,.state.shown_pass { color:var(--pass); }
.state.started { color:var(--fail); } .state.not_started,.state.known { color:var(--soft); font-weight:400; }
.work { display:grid; gap:1rem; grid-template-columns:minmax(0,1fr); }
.work { grid-template-areas:"task" "edit" "checks"; } .work .task { grid-area:task; } .work .edit { grid-area:edit; }
.work .checks { grid-area:checks; } .two .edit pre { max-width:100%; }
@media (min-width:60rem) { .work { grid-template-columns:minmax(0,5fr) minmax(0,6fr); align-items:start;
  grid-template-rows:auto 1fr; grid-template-areas:"task edit" "checks edit"; }
  .work .edit { position:sticky; top:.5rem; } }
@media (min-width:92rem) { .work { grid-template-columns:minmax(0,4fr) minmax(0,6fr) minmax(0,5fr);
  grid-template-areas:"task edit checks"; } }
.edit .nicegui-codemirror { border:1px solid var(--line); border-radius:6px; height:min(52vh,46rem); font-size:14px; }
.side { display:grid; gap:1rem; min-width:0; }
.rule { display:grid; grid-template-columns:1.2em auto; column-gap:.5rem; padding:.4rem .5rem; border-left:4px solid
  var(--line); margin:.3rem 0; grid-template-areas:"mark head" ". text"; }
.rule .mark { grid-area:mark; font-weight:700; } .rule b { grid-area:head; } .rule .text { grid-area:text; min-width:0;
  overflow-wrap:anywhere; white-space:pre-wrap; }
.rule .word { grid-area:head; margin-left:2.2em; font-size:.85rem; color:var(--soft); }
.rule.passed { border-color:var(--pass); } .rule.passed .mark, .rule.passed .word { color:var(--pass); }
.rule.failed { border-color:var(--fail); background:var(--warm); } .rule.failed .mark, .rule.failed .word {
  color:var(--fail); font-weight:700; }
.warn { background:var(--warm); border:1px solid var(--fail); border-radius:8px; padding:.7rem 1rem; width:100%;
  box-sizing:border-box; }
.picture { overflow-x:auto; max-width:100%; } svg.cells { max-width:none; display:block; }
svg.cells .cell.on rect { stroke:var(--ink); stroke-width:4; } svg.cells .cell.on text { font-weight:700; }
.page figure svg { max-width:max(100%, 28rem); height:auto; }
.cm-wrong { text-decoration:underline wavy var(--fail); text-underline-offset:3px; background:var(--warm); }
.field { font:inherit; padding:.35rem .5rem; border:1px solid var(--line); border-radius:6px; background:var(--paper);
  color:var(--ink); min-width:0; } .field.mono { font-family:ui-monospace, Menlo, Consolas, monospace; }
.numbered .nr { color:var(--soft); cursor:pointer; user-select:none; }
.numbered .nr:hover { text-decoration:underline; }
.numbered .said { display:block; white-space:pre-wrap; font:.95rem/1.4 system-ui, sans-serif;
  margin:.1rem 0 .3rem 3.2rem; padding-left:.6rem; border-left:4px solid var(--accent); }
mark { background:var(--warm); color:inherit; border-bottom:2px solid var(--fail); }
.code-area textarea { font:.88rem/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace !important; }
textarea.field { width:100%; box-sizing:border-box; }
.q-loading-bar { display:none !important; }  /* it has no name for readers who cannot see it */
summary { display:list-item !important; cursor:pointer; }
label.for { display:grid; gap:.15rem; font-size:.9rem; color:var(--soft); min-width:0; }
.tensorgrade.tensorgrade { border:0 !important; padding:0 !important; max-width:none !important; }
.page .tensorgrade.tensorgrade { --paper:var(--card); }  /* it lies on a card, which is not black in the dark */
.sr { position:absolute; width:1px; height:1px; overflow:hidden; clip-path:inset(50%); white-space:nowrap; }
.skip { position:absolute; left:-999px; } .skip:focus { left:.5rem; top:.5rem; background:var(--card); padding:.5rem;
  z-index:10; }
.nicegui-error-popup { background:#7a1f00 !important; color:#fff !important; }
"""

_SCRIPT = """
document.addEventListener('mouseover', e => mark(e.target)); document.addEventListener('focusin', e => mark(e.target));
function mark(target) { const cell = target.closest && target.closest('svg.cells .cell');
  if (cell) markPlace(cell.closest('svg'), cell.dataset.place); }
function markPlace(drawing, place) {
  document.querySelectorAll('svg.cells .cell.on').forEach(c => c.classList.remove('on'));
  drawing.querySelectorAll('.cell[data-place="' + place + '"]').forEach(c => c.classList.add('on')); }
"""
"""What a drawing needs: a cell and its place in the storage are marked together."""


def add_style_sheet() -> None:
    """Add the style sheet and the script of all pages to the page."""
    ui.colors(primary="#0a5a9c")
    ui.add_css(_CSS)
    ui.add_body_html(f"<script>{_SCRIPT}</script>")


@contextmanager
def page(title: str, links: Sequence[tuple[str, str]]) -> Iterator[None]:
    """Build the head of a page; what is built within this context becomes its content.

    Args:
        title: the title of the course or class.
        links: the texts and addresses of the links.
    """
    add_style_sheet()
    html('<a class="skip" href="#main">Skip to the content</a>')
    with ui.element("header").classes("top"):
        html(f'<span class="name">{escape(title)}</span>')
        with ui.element("nav").classes("in-line").props('aria-label="Pages"'):
            for words, address in links:
                ui.link(words, address)
    with ui.element("div").classes("page").props('id="main" tabindex="-1"'):  # NiceGUI has the element `main` itself
        yield


def html(text: str, tag: str = "div") -> ui.html:
    """Build an element from HTML.

    The caller must have escaped every text in it that somebody else wrote.
    """
    return ui.html(text, sanitize=False, tag=tag)


def button(words: str, on_click: object, *, first: bool = False, label: str = "") -> ui.element:
    """Build a button that can be reached with the keyboard.

    Args:
        words: the text on the button.
        on_click: the callback for a click; None for a button without a callback on the server.
        first: True if it is the page's main button.
        label: the name for screen readers, if not the text.
    """
    made = ui.element("button").classes("b first" if first else "b").props('type="button"')
    if label:
        made.props(f'aria-label="{escape(label)}"')
    with made:
        ui.html(escape(words), sanitize=False, tag="span")
    if on_click is not None:
        made.on("click", on_click)  # type: ignore[arg-type]
    return made


def focus(element: ui.element) -> None:
    """Give an element the keyboard focus, once it is in the page.

    If the focused element is removed from a page, Tab begins at the top; so focus the element that replaces it.
    """
    element.client.run_javascript(  # not `ui.`: the button that was pressed may be gone
        f"(async () => {{ while (!getHtmlElement({element.id})) await new Promise(done => setTimeout(done, 20));"
        f" getHtmlElement({element.id}).focus(); }})()"
    )


def code_area(text: str, name: str) -> ui.textarea:
    """Make a box for some lines of code, which grows with them.

    Args:
        text: the text of the box at first.
        name: a name of the box for screen readers.
    """
    area = ui.textarea(value=text).props("outlined dense autogrow spellcheck=false autocapitalize=off")
    return area.props(f'aria-label="{escape(name)}"').classes("code-area").style("width:100%")


def heading(words: str, level: int = 2) -> ui.html:
    """Build a heading of a level from 1 to 6."""
    return html(escape(words), f"h{level}")
