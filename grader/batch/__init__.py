"""Many submissions → reports and a gradebook.

run      what was handed in, graded by an engine; what did not change is not graded again
pile     what one author handed in, while it is graded
ledger   what the journal has of it already, what is written into it, and what of it counts
journal  what became of each exercise of each submission, written down as it happens
shards   the same by several processes, each with a journal of its own for the time being
book     the journal as reports
files    what is written besides the journal
order    what a run is asked to do, and what came of it
diff     what a regrade changed
overview the journal as a class at a glance, with groups of what nothing explains
"""
