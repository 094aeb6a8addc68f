"""A student's own side: a folder with the course, how far they are, what to do next, an exercise graded on save.

given          `grade start`: the course laid out in a folder; `update` brings corrections; `reset` restores a starter
progress       how far the student is, the exercises with their states, and which comes next
pages          the lines of `grade list`, `next` and `show`
advice         what `grade` says after a run and between tries: hints, the reference and its costs, what comes next
pack           a hand-in as one zip, with its receipt
watch          `grade watch`: graded on save; `keys` reads keys
notebook       an exercise graded from the cells of a notebook, for `grader.notebook` in the student's own kernel
pytest_plugin  shown checks as tests of the student's own pytest
games          `grade break`, `grade catch` and `grade trace`
"""
