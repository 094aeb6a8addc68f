"""Which known wrong answer a submission behaves like: its sentence says what the mistake is, not only what came out.

traces    what is compared: of each check the verdict, and what staff read of it without places and names of files
known     how wrong answers behave, found out when it is first asked for, and kept on disk
diagnose  a graded exercise with the sentence of the wrong answer that it behaves like; `pairs` for two at once
sealed    the same sentences for a copy that has no wrong answers
groups    what no wrong answer explains, together where it behaves alike; `draft` makes a new wrong answer of it
"""
