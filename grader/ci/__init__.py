"""Grading in a CI job: a checkout in, every file and line that a platform reads out.

checkout   a student's checkout: which course grades it, what changed
job        a checkout graded: what the environment says, and every file, output and line of the log
gather     reports of many jobs as one gradebook
files      the files by which a platform grades, of `templates/`; the autograder of Gradescope
"""
