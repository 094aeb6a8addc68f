"""A student's own side: a folder with the course, how far they are, what to do next, an exercise graded on save.

given     `grade start`: the course laid out in a folder; `update` brings what was mended, and keeps the student's work
progress  how far the student is: a small file that is never in the way
rows      the exercises with where they stand; which comes next
pages     the lines of `grade list`, `next`, `show` and `hint`
reset     the starter restored, the old file kept
hints     hints, one after another
watch     `grade watch`: graded on save; `keys` tells of keys
answered  what a run found of exercises of which nothing has changed since
after     what is kept and said after a run
advice    what `grade` says after a run: a hint, the reference, what comes next
"""
