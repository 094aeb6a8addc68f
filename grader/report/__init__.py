"""A report for people and for machines.

as_json    the report that other programs rely on; `from_json` reads it back
like       what a run has to have in common with the one of a report
terminal   a report for a terminal; `gradebook` for many, `diff` for a regrade, `doctor` for a machine
html       a report as a page, and as a part of one; `templates` has what stands around the words
overview   a class at a glance; `overview_page` shows it as a page, `overview_lines` in a terminal
words      the words that these have in common; `causes` says which check is explained
lines      lines that fit a terminal
receipt    what a student keeps of a hand-in
safe       student text made safe for the place where it is shown
"""
