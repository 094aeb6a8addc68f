"""The host's side of the processes: lanes, where their workers come from, and how well those are confined.

compiled  bytecode of what our processes import, written once
pool    several lanes that work at once, each in a thread of its own
lane    one check process with its workers: a job in, outcomes out
zygote  what worker servers and check processes are forked from: started, asked, ended
source  where workers come from: a worker server, or fresh interpreters; the three levels of confinement, which of them
        is wanted, and which was reached on this machine
"""
