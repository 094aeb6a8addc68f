"""A report for people and for machines.

schema     the report that other programs rely on: its entries, and how they are written
read       a report of that schema, read
repeat     a run like that of a report, and how it differs
student_line  the line of the student's file that a check is about
terminal   a report for a terminal
progress_lines  what commands print of a run while it goes on
console    what commands print: lines, a line that changes while work goes on, errors without a traceback
blocks     what rich draws of it: tables, bars, the rate of a run, code with colours
html       a report as a page, and as a part of one; pictures as SVG; `templates` has the markup
gradebook  many reports: a table for a terminal and for spreadsheets
pictures   pictures of what a check found, as lines and as a sentence
words      the words that these have in common
people     who is in a class, by a table that an LMS wrote; csv_table, moodle_worksheet, names and numbers read it
safe       student text made safe for the place where it is shown, and lines that fit a terminal
export     the formats of other programs
"""
