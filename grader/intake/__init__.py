"""What was handed in → Submissions. Nothing in it is run or followed.

layouts   a folder or a zip of a whole class, whichever platform made it
collect   the one reader of all commands, and the process that reads under limits
contents  what was handed in: folders and archives as their files; what one author handed in, in memory
cells     the Python text of one cell, without magics
notebook  cells of a notebook, in a file or a running kernel, as modules
match     what the name and the text of a file say: its exercise, its version, whether it is Python
choice    what one author handed in, as a Submission
"""
