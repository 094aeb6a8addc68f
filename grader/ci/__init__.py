"""Grading in a CI job: a checkout in, every file and line that a platform reads out.

checkout   a student's checkout: which course grades it, what changed, which files of the course it has otherwise
gather     reports of many jobs as one gradebook
platform   what the environment tells of the job, and what it is told: outputs, the page of a job, groups in its log
files      the files by which a platform grades, of `templates/`; the autograder of Gradescope
run        a checkout graded, every file written again while checks end
"""
