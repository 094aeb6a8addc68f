"""Many submissions → reports and a gradebook.

run       what was handed in, graded; what did not change is not graded again
run_text  a run in sentences
journal   what became of each exercise of each submission, written down as it happens; by one process or by shards
policy    what counts in the end: days late, grace days, extra credit, what is dropped, what staff decided
overrides points that staff gives by hand
comments  what staff writes about lines of code
drafts    a new known wrong answer, of a group of submissions
lateness  how late a submission was, and what that costs
known_results  results of a journal that were read before, for pages that read it again and again
reports   the journal as reports
results_folder  the folder that a batch writes into
changes   what a regrade changed, and what staff changed
feedback  the pages of authors, to return
class_summary  the class at a glance, with groups of answers that nothing explains; class_text shows it in a terminal
class_pages  the pages of a class and of all authors, written
similar   pairs of submissions that have much code in common
term      the hand-ins of a term joined
"""
