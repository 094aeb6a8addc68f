"""Reports in the formats of other programs. An exporter reads a report's JSON and nothing else.

formats   every format of one report by its name: of teaching platforms, of CI jobs, JUnit XML
lms       final scores in the files of Canvas and Moodle
"""
