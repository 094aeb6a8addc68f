"""What was handed in → Submissions. Nothing in it is run or followed.

folder   a folder with the files of one author
archive  a zip that somebody handed in, as a folder
pack     a submission as one zip, for `grade pack`
zipped   files as a zip that is the same byte for byte each time
"""
