"""What course authors use: `grade verify`, `grade new --from`, `grade pages`.

`grade verify` proves a course: what its text promises, what its checks accept, and what they refuse. Every violation is
a sentence with the remedy.

verify  the flow: read, run, judge, print; again on each save
text    what reading shows, before anything runs
cases   which files are run, with which seeds
judge   what of the runs does not go as it should, and what wrong answers lose on which rules
pages   a map of the course, and what students read of each wrong answer
port    the first draft of an exercise from a plain pytest file
"""
