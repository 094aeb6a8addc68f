"""A student's own side: a folder with the course, how far they are, what to do next, an exercise graded on save.

given          `grade start`: the course laid out in a folder; `update` brings corrections; `reset` restores a starter
progress       how far the student is, the exercises with their states, and which comes next
pages          the lines of `grade list`, `next` and `show`
advice         what `grade` says after a run and between tries: hints, the reference, what comes next
compare        the reference beside the student's own code
pack           a hand-in as one zip
watch          `grade watch`: graded on save; `keys` reads keys
notebook       an exercise graded from the cells of a notebook; `kernel` is the part in the student's own process
pytest_plugin  shown checks as tests of the student's own pytest
answered       the saved results of exercises that have not changed since
breaking       `grade break`, with the faults of `faults`; `catching`: `grade catch`; `trace`: `grade trace`
"""
