"""What a student uses: a folder with the course, progress, what to do next, an exercise graded on save.

given          `grade start` copies the course into a folder; `update` brings corrections; `reset` restores files
progress       how far the student is, the exercises with their states, and which comes next
pages          the lines of `grade list`, `next` and `show`
advice         what `grade` says after a run and between tries: hints, solutions and their costs, what comes next
own            the student's own files, read and graded; `grade try`: the lines to try of a failing check
pack           a hand-in as one zip, with its receipt
watch          `grade watch`: grades on each save, and does what keys say
notebook       an exercise graded from the cells of a notebook, for `grader.notebook` in the student's own kernel
pytest_plugin  shown checks as tests of the student's own pytest
games          `grade break`, `grade catch` and `grade trace`
"""
