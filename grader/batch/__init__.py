"""Many submissions → reports and a gradebook.

run       what was handed in, graded; what did not change is not graded again
journal   what became of each exercise of each submission, written down as it happens; by one process or by shards
book      the folder of results: reports, the gradebook, what could not be matched, what a regrade changed
overview  the journal as a class at a glance, with groups of what nothing explains
"""
