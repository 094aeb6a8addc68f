"""The documentation as a site: `make docs` builds it into out/site, without a network and without a warning.

Its pages are the Markdown files of this folder, which can be read in the repository, too. What the reference has of
commands, keys and functions is made of the code when the site is built. So is check-words.md, which the repository has
for those who read it there. mistakes.md is not: it takes a run of 1,800 answers, `python tools/mistakes.py --write`.
"""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

import words_page  # noqa: E402  its folder is on the path now

WORDS = HERE / "check-words.md"
if WORDS.read_text(encoding="utf-8") != words_page.page():
    WORDS.write_text(words_page.page(), encoding="utf-8")

project = "tensorgrade"
author = "The tensorgrade authors"
copyright = author
release = version = metadata.version("tensorgrade")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click", "keys"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4  # links to headings are checked
suppress_warnings = ["misc.highlighting_failure"]  # consoles show what is not of one language
napoleon_use_ivar = True  # attributes that a docstring explains are not listed twice
autodoc_typehints = "description"
autodoc_member_order = "bysource"
html_theme = "furo"
html_title = f"tensorgrade {release}"
html_show_sphinx = False
html_copy_source = False
