"""The copy of a course that students get, and the proof that nothing of staff's is in it.

make      which files a copy has, the proof, a draft beside the place, and only then the copy; pages are `templates`
answers   what is run for it: the reference and the known wrong answers
proof     the search of the copy for parts of staff's files, in every file, name and byte
"""
