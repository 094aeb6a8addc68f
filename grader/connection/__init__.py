"""The check process's link to workers: what a check sends to student code, and what comes back.

student       `student.total(x)`: the names of a module
connection    one exercise of one author: requests and replies, and a new worker if one is lost
proxy         stands for an object that stays in a worker
record        what one check did through a connection: its calls, and what student code changed
raised        what student code raised, as the worker says
probe         code of the course's, or of ours, that runs beside student code
process       one process in which student code runs: watched and ended from outside
starting, fork, spawn    the two ways in which one starts
timing        calls with our clock around them, and memory looked at from outside
paired_run, samples, measurement, ratio    two functions compared by time
spans         what a worker says of virtual time

Everything that comes from a worker is untrusted. Its loss is `endings.WorkerLost`.
"""
