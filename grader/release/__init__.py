"""The copy of a course that students get, and the proof that nothing of staff's is in it.

make      the straight line: contents, a draft beside the place, the proof, and only then the copy
facts     what is run for it: what hidden checks decide, what is counted of the references
mistakes  what is run for its known mistakes, which are sealed
contents  which files a copy has, and what stands in its YAML files
notebooks the exercises of each module as a notebook
pages     its page for students, and the one for programs that help them
secrets   what must not be in it: pieces of staff's files
proof     the search for these in every file, name and byte
"""
