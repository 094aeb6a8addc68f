"""Many submissions → reports and a gradebook.

run       what was handed in, graded; what did not change is not graded again
journal   what became of each exercise of each submission, written down as it happens; by one process or by shards
policy    what counts in the end: points that staff gives by hand, days late, grace days, extra credit, what is dropped
book      the folder of results: reports, the gradebook, what could not be matched; what a regrade changed
pages     the pages of authors, to return; the class at a glance, with groups of what nothing explains
similar   pairs of submissions that have much code in common
term      the hand-ins of a term joined
"""
