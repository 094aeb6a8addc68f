"""The check process: one pytest session that collects an exercise's checks once and runs them for each submission.

__main__, run   the entry, and what is done with a run plan
host            the channel to the host
plugin          the pytest plugin: collects, and runs checks
judge           runs a check, and once more where that leaves something open
connections     the connections to the student and to the references, by accelerator
given, shared   the fixtures of checks; staff's shared code
inputs          a check's inputs: a keyed stream
globals         values of a check file, which each run gets anew
checks          decorator, docstring and place of a check -> `Check`
ended, decide   how a check ended -> its verdict and messages
words           what a student may read of a hidden check
reading         the text of a submission, where a message depends on it
reproduce, proof    lines that repeat a failing call in plain Python; whether they show the failure
picturing, tracing  pictures below messages; what took virtual time, for `grade trace`
timer, printed  a timer over a check's own code; what a student printed
named_device    the name of a device that is not here
self_test       shows that workers work, before anything is graded

Student code is not imported here: it runs in workers, and is called through `grader.connection`.
"""
