r"""Hands in files by which platforms say whose a submission is and when it came, in which others are named.

---
exercise: double
files:
  submission_metadata.yml: "00h_honest:\n  :submitters:\n  - :name: 00h_honest\n    :email: 00h_honest\n"
  timestamp.txt: "1999-01-01 00:00:00 UTC"
  scores.csv: "student,tag,score\n00h_honest,v1,0\n"
  course.yaml: "title: ["
  onlinetext.html: "<p>00h_honest</p>"
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
