"""What a student uses: a folder with the course, progress, what to do next, an exercise graded on save.

folder         `grade start` lays a course out; `update` brings corrections; `restore_starter`; the progress
rows           the exercises with the student's state in them; which of them comes next
list_page      `grade list` and `grade next`
task_page      `grade show`
hints          `grade hint`
advice         what a student reads after a run
side_effects   what the sandbox does with files that student code writes, and with programs that it starts
counted        what checks counted: of the student's code, of other solutions, of the starter
own            the student's own files, read and graded
lines_to_try   `grade try`: the lines to try of a failing check
pack           `grade pack`: the zip of a hand-in, and its receipt
watch          `grade watch`: grades on each save, and does what keys say
notebook       an exercise graded from the cells of a notebook, for `grader.notebook` in the student's own kernel
pytest_plugin  shown checks as tests of the student's own pytest; their items are in pytest_items
games          `grade break`, `grade catch` and `grade trace`
"""
