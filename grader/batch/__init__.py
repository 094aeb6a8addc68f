"""Many submissions → reports and a gradebook.

run      what was handed in, graded in one lane; what did not change is not graded again
journal  what became of each exercise of each submission, written down as it happens
book     the journal as reports
files    what is written besides the journal
order    what a run is asked to do, and what came of it
diff     what a regrade changed
"""
