"""What a student uses: a folder with the course, progress, what to do next, an exercise graded on save.

folder         `grade start` lays a course out; `update` brings corrections; `reset` restores files; the progress
pages          the exercises with their states; `grade list`, `next`, `show`, `hint`; advice after a run
own            the student's own files, read and graded; `grade try`: the lines to try of a failing check; `grade pack`
watch          `grade watch`: grades on each save, and does what keys say
notebook       an exercise graded from the cells of a notebook, for `grader.notebook` in the student's own kernel
pytest_plugin  shown checks as tests of the student's own pytest; their items are in pytest_items
games          `grade break`, `grade catch` and `grade trace`
"""
