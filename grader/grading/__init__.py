"""Grades exercises of submissions: outcomes → points, what to run again, and which known mistake explains a failure.

plan         what is graded and how; one exercise of one submission as work
outcomes     what a work came to: outcomes of checks, and their points
handed_in    places and lines as their author has them: of a file elsewhere, or of a notebook's cells
packed_plan  a run plan with its files, for other machines
schedule     one submission → report, the straight line of `grade`; which work runs now, and which once more
store        results of earlier runs, and what they depend on
runtime      the processes of one run: where workers come from, lanes, what they share, the token that cancels
lanes        what a lane does with an exercise: its checks run, are scored and explained
callers      functions that fail while one that they use fails, too
diagnosis    the known wrong answers that it behaves like
behaviour    what two answers are compared by; sentences that only a behaviour opens
unexplained  what no wrong answer explains: groups that behave alike, and a draft of a new wrong answer
secret       of a run over other people's work, from which their inputs come
"""
