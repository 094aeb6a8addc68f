"""What was handed in → Submissions. Nothing in it is run or followed.

collect   the one reader of all commands: has the process below read, under limits
reading   the process that reads, in which alone what was handed in is opened, walked, decoded and parsed
layouts   a folder or a zip of a whole class, whichever platform made it
contents  what one author handed in, in memory; a class's download, on the disk
archive   the files in a zip or a tar; folders that nobody wrote
cells     the Python text of one cell, without magics
notebook  cells of a notebook, in a file or a running kernel, as modules
kinds     what a file is, by its content
needed    which statements of a notebook an exercise needs
match     what the name and the text of a file say: its exercise, its version, whether it is Python
choice    what one author handed in, as a Submission
code      what other packages must know of a text: its names, its tokens
"""
