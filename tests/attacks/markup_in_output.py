r"""Prints and raises what other programs take for commands: CI systems, spreadsheets, browsers, XML.

---
exercise: tables
verdicts: {words: crashed, more_words: crashed}
shown_output: set-output
"""

MARKUP = "\n".join(
    [
        "::set-output name=score::100",
        "::error file=x::stop",
        "##[group]",
        "=cmd|' /C calc'!A0",
        "@SUM(1+1)",
        "]]><script>alert(1)</script><![CDATA[",
        "<img src=x onerror=alert(1)>",
        "[click](javascript:alert(1)) ![x](http://127.0.0.1/x)",
        "| a | b |\n|---|---|",
        "```\n# heading",
        "{{ 7 * 7 }} ${7*7} <%= 7 %>",
    ]
)
print(MARKUP)


class Markup(ValueError):
    pass


Markup.__name__ = Markup.__qualname__ = "</pre><script>alert(1)</script>"


def count(text):
    raise Markup(MARKUP)


def shout(text):
    return text.upper()
