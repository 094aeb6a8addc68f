"""What was handed in → Submissions. Nothing in it is run or followed.

folder  a folder with the files of one author
"""
