"""Many submissions → reports and a gradebook.

run  a folder with one folder for each author, graded in one lane
"""
