"""The host's side of the processes: lanes, where their workers come from, and the wall around those.

open    lanes for exercises, all with one source of workers
pool    lanes that work at once, each in a thread of its own
lane    one check process with its workers: a job in, outcomes out; `deadline` is how it waits, `undone` what it missed
source  where workers come from: a worker server, or fresh interpreters; `supply` is what lanes ask of it
walls   what confinement is asked for, and what was reached on this machine
doctor  what this machine can do; `environment` is what a report says of it
"""
