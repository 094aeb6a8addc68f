"""The copy of a course that students get, and the proof that nothing of staff's is in it.

make   what is run for a copy, which files it has, and, once they are proved, the copy; its pages are `templates`
proof  the search of the copy for passages of the staff's files, in every file, name and byte
"""
