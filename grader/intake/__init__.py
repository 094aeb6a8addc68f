"""What was handed in → Submissions. Nothing in it is run or followed.

folder      a folder with the files of one author, as students have it
layouts     a folder or a zip of a whole class, whichever platform made it
handed      the records that all of them give
canvas, moodle, gradescope, clones, nbgrader, plain
            one platform's layout each
contents    what one author handed in, in memory, with zips in zips
archive     a zip, as its files
unpacked    a private folder for what is in a zip
notebook    a notebook, as the modules in it
match       which exercise a file is of
collect     what one author handed in, as a Submission
origin      what was graded, told as it was handed in
source      whether a file is Python at all
pack        a submission as one zip, for `grade pack`
zipped      files as a zip that is the same byte for byte each time
"""
