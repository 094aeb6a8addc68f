"""An exercise graded from the cells of a notebook.

The kernel is the student's process, so nothing of a course is read in it: it sends the source of its cells to a process
of ours, which grades them as any submission, and shows the answer.

kernel   in the student's process: which cells ran, what is sent, what is shown; the standard library only
grading  in a process of ours: a request → a report as HTML and as text; a lane stays open for the next request
"""
