"""`grade verify` proves a course: what its text promises, what its checks accept, and what they refuse.

Every violation is a sentence with the remedy. `text` looks at what can be read, and before anything runs, at lines of
check files that have no effect. `cases` says which files are run with which seeds, and `odd` adds what no right answer
gives; `run` runs them on all lanes with one warm worker server, and `judge` says what did not go as it should, `losses`
which wrong answers lose much on rules that they keep, `told` how much hidden checks tell, `margins` which limits of
speed are too near to our own answer, and `alike` which wrong answers nothing tells apart. `proof` is what was found of
one exercise, and `table` prints it. `places` says where in a check file something went wrong, and `watch` proves an
exercise again on each save.
"""
