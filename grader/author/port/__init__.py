"""A plain pytest file → the first draft of an exercise: shown and hidden checks, probes, starter, reference.

text            Python text that is edited by the positions of its syntax tree
rewrite         a plain pytest file: its tests as checks, or as functions of the probe file; asserts as `grader.check`
                has them
asserts         test classes of unittest, and asserts of nose, in the words of pytest
frames          which tests of tables of pandas can be checks
cells           what a cell of a notebook has for students, and the words of a question
assignment      what a notebook has: solution, tests, points and questions, as a plain pytest file and a reference
seeds           which seed that a notebook sets reaches the draws of a test
nbgrader, otter the readers of the two kinds of notebooks
notebooks       which kind a notebook is
data_files      which data files tests and student code read
draft           all files of the exercise
stubs           what a student is to write
todos           what is left to do
"""
