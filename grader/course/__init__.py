"""A course folder → Course.

layout    where things lie: the one module that knows a course's paths, and which files a course has
install   where the grader of a course is installed from
files     what may stand in course.yaml and exercise.yaml
load      both files → Course, with every problem found; the exercises that a name means
edits     a void check or an extension, put into these files
answers   known answers: wrong ones, right variants, and the starter as it was given out
topics    what a course teaches, and where
marks     sentences about what broken rules cost
golf      in how few operations an answer is written
watching  waiting for files to be saved
scaffold  a new course or exercise, ready to be changed; its texts are `templates`
drafts    the files of a draft, which may be drafted again; what its author has edited stays
"""
