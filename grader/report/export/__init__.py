"""Reports in the formats of other programs. An exporter reads reports and nothing else.

gradebook_csv  a row for each author, of reports at hand and of those read from files
formats        every format of one report by its name: JUnit XML, Gradescope, PrairieLearn, the two classrooms on
               GitHub, a page in Markdown, lines of a log
items          a report as rows that other programs know; `checked` refuses what a platform would refuse
"""
