"""Grading in a CI job: a checkout in, every file and line that a platform reads out.

job        which course grades a checkout, what the environment says, and what the platform gets
changes    which exercises were changed since a commit
clones     the repositories of a class, as they were at a time
gather     reports of many jobs as one gradebook
platforms  what each platform is called, and what its files need
files      the files by which a platform grades, of `templates/`; the autograder of Gradescope
"""
