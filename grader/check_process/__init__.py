"""The check process: one pytest session that collects an exercise's checks once and runs them for each submission.

__main__         the entry of one that is started as a command
forked           the entry of one that is forked from the zygote's template
start            what is done with a run plan; a proof that workers work, before anything is graded
host             the channel to the host
plugin           the pytest plugin: collects and runs checks, and gives them their fixtures
own_time         the time that a check's own code may take, by the hooks of pytest-timeout
checks           checks as they were collected, and what each run gets anew: values of their files, a stream of inputs
connections      the connections to the student and to the references, by accelerator; what the student printed
judge            what a check raised -> its outcome, with verdict, messages and picture; a second run if need be
words            which words a hidden check may show; an exception of student code: its verdict and messages
reproduce        lines that repeat a failing call in plain Python, and whether they show the failure; `grade trace`

Student code is not imported here: it runs in workers, and is called through `grader.connection`.
"""
