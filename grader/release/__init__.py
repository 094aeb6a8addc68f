"""The copy of a course that students get, and the proof that nothing of staff's is in it.

make      the straight line: contents, the proof, a draft beside the place, and only then the copy
contents  which files a copy has, and what they contain; its pages are `templates`
notebooks the exercises of each module as a notebook
answers   what is run for it: the reference and the known wrong answers
proof     the search of the copy for parts of staff's files, in every file, name and byte
"""
