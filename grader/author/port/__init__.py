"""A plain pytest file → the first draft of an exercise: shown and hidden checks, probes, starter, reference.

text     Python text that is edited by the positions of its syntax tree
plain    a plain pytest file: its tests as functions, and which names are the student's
rewrite  a test as a check, or as a function of the probe file
asserts  asserts of PyTorch and NumPy as helpers of `grader.check`
stubs    functions and classes that a student is to write, by how the tests call them
draft    all files of the exercise, and what is left to do
"""
