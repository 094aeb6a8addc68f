"""The check process: one pytest session that collects an exercise's checks once and runs them for each submission.

__main__   the entry: takes the channel over before anything else is imported
host       what it says to the host, and hears
plugin     the pytest plugin: collects, runs jobs
given      the fixtures: what checks are given; listener: the one that hears what is printed
shared     staff's shared code, as a package that check files import
pickles    none is read while a file of the student's is in a check's folder
inputs     where a check's inputs come from: a keyed stream
checks     what is declared of a check → `Check`
sides      the student's side and the reference's, by the accelerator that they see
words      what may be told of a hidden check
globals    values of a check file, which each run gets anew
named_device    the name of a device that is not here
decide     from how a check ended to its verdict and its messages; authors: what the check's author is told
outcome    from verdict and messages to what the host is told
reproduce  lines that repeat a failing call in plain Python
timer, printed, self_test    a timer over a check's own code; what a student printed; a proof that workers work

Student code is not imported here, so that it stays clean: it runs in workers, and is called through
`grader.connection`.
"""
