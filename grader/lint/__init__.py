"""Reads check files as text: reports code without effect on student code, and code that is never graded.

Student code runs in another process. A call takes values there and brings values back; a seed, a mode, a patch or a
listener around the call stays in the check process. Every finding follows from the syntax tree alone. Code that the
tree cannot decide passes: what such a check does at run time raises an error that names the probe.

scope  a check file as a syntax tree, and what the names of its functions certainly are
sizes  the sizes that stand in a check file
asserts  which functions can fail because of a value
lines  findings: checks that never run, what changes the check process alone, and what does not cross with a call
"""
