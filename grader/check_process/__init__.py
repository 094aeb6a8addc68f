"""The check process: one pytest session that collects an exercise's checks once and runs them for each submission.

__main__         the entry of one that is started as a command
forked           the entry of one that is forked from the zygote's template
start            what is done with a run plan; a proof that workers work, before anything is graded
host             the channel to the host
plugin           the pytest plugin that collects checks and runs jobs
checks           checks as they were collected, and what each run gets anew: values of their files, a stream of inputs
connections      the connections to the student and to the references, by accelerator; what the student printed
features         what a check file may use of pytest, and what is refused by name
fixtures         what checks are given: the student's module, the reference, inputs, probes, folders
run_check        one check, run once
own_time         the time that a check's own code may take, by the hooks of pytest-timeout
judge            the outcome that counts; a second run where one run decides nothing
all_calls        what functions return for all inputs of a check, by which a diagnosis compares answers
verdict          what a check raised -> its outcome: the verdict and the messages
student_error    an exception of student code -> its verdict and messages
hidden_words     which words a hidden check may show
check_lines      the line and the statement of a check file that raised
submitted_lines  the lines of submitted files, and what their functions do in the end
check_picture    the facts of the picture below a message
reproduce        the calls of a failing check as lines of plain Python
value_source     Python source that makes a value again
lines_to_try     whether such lines show the failure; lines that a student types
trace            what takes virtual time, for `grade trace`

Student code is not imported here: it runs in workers, and is called through `grader.connection`.
"""
