"""`grade verify` proves a course: what its text promises, what its checks accept, and what they refuse.

Every violation is a sentence with the remedy. `text` looks at what can be read; `run` runs starters, references, right
variants and wrong answers, on all lanes with one warm worker server; `table` prints what was found.
"""
