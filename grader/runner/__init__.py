"""The host's side of the processes: lanes, where their workers come from, and how well those are confined.

compiled            bytecode of what our processes import, written once
pool                several lanes that work at once, each in a thread of its own
lane                one check process with its workers: a job in, outcomes out
zygote_client       what worker servers and check processes are forked from: started, asked, ended
early               processes that are started before it is known what is graded
warm                processes that stay between commands; warm_socket: the sockets at which they are called
hand_over           a typed command has its work done by one of them
worker_source       what a source of workers does for a lane; open_source opens the one that suits
worker_server       the source that forks confined workers
fresh_interpreters  the source that starts each worker by itself, without a sandbox
promises            what a confined process cannot do; which level of confinement was reached on this machine
"""
