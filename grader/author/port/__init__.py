"""A plain pytest file → the first draft of an exercise: shown and hidden checks, probes, starter, reference.

text     Python text that is edited by the positions of its syntax tree
plain    a plain pytest file: its tests as functions, and which names are the student's
rewrite  a test as a check, or as a function of the probe file; asserts as helpers of `grader.check`
draft    all files of the exercise, its stubs among them, and what is left to do
"""
