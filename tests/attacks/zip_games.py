r"""Hands in zips beside the module that lead out of their folder, through a link, or unpack to hundreds of megabytes.

---
exercise: double
zipped:
  out.zip:
  - ["../../00h_honest/double.py", "def double(x): raise SystemExit('wall_marker')\n", 1]
  - ["/tmp/wall_marker_from_a_zip.py", "x = 1\n", 1]
  - ["c:\\windows\\double.py", "x = 1\n", 1]
  link.zip:
  - ["link:up", "../..", 1]
  - ["up/00h_honest/double.py", "def double(x): raise SystemExit('wall_marker')\n", 1]
  large.zip:
  - ["a.py", "x = 1\n", 20000000]
  names.zip:
  - ["submission_metadata.yml", "00h_honest: {}\n", 1]
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
