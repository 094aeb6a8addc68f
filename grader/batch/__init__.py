"""Many submissions → reports and a gradebook.

run       what was handed in, graded; what did not change is not graded again
journal   what became of each exercise of each submission, written down as it happens; by one process or by shards
policy    what counts in the end: days late, grace days, extra credit, what is dropped
overrides points that staff gives by hand
book      the folder of results: reports, the gradebook, what could not be matched
diff      what a regrade changed, and what staff decided
term      the hand-ins of a term joined
overview  the journal as a class at a glance, with groups of what nothing explains; as a page and for a terminal
"""
