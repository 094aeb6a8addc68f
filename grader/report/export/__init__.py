"""Reports in the formats of other programs. An exporter reads a report's JSON and nothing else.

formats        every format of one report by its name, and how one is written
items          a report as rows that other programs know; what users choose; limits of size
platforms      JSON files of Gradescope, PrairieLearn and the two classrooms on GitHub
junit          JUnit XML
lms            final scores in the files of Canvas and Moodle
job            a CI job's log, annotations, code quality and page
"""
