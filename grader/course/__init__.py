"""A course folder → Course.

layout    where things lie: the one module that knows a course's paths
suffixes  how names end of what is handed in: Python, notebooks, zips
inventory which files a course has, and which of them students get
kept      where things lie that belong to one student
schema    what may stand in course.yaml and exercise.yaml
load      both files → Course, with every problem found
starter   whether a file is the starter as it was given out
saves     files of a course, as they are saved
listing   course.yaml with one exercise more
scaffold  a new course or exercise, ready to be changed
"""
