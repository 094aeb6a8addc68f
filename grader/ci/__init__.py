"""Grading in a CI job: reads a checkout, and writes every file and line that the platform reads.

job     which course grades a checkout, what was changed in it, and what the platform gets
clones  the repositories of a class, as they were at a time; reports of many jobs as one gradebook
files   the platforms, and the files by which each grades, of `templates/`; the autograder of Gradescope
"""
