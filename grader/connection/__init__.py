"""The check process's link to workers: what looks local and runs beside student code, in another process.

student   `student.total(x)`: names of a module, functions
handle    what stands for a function, a class or an object that stays with the worker; `errors` for what it raises
classes   what is known of their classes
around    what is around a call in a check: seeds, warnings and prints cross, and what cannot is refused
backward  goes on with a backward pass
lent      what objects of the reference keep copies of
journal   what a check asked, and how objects are made again in a fresh worker
side      one side that a check talks to: a sitting, what it has in common with its worker, what was called
sitting   one exercise of one author: its worker, renewed when lost
worker    one process in which student code runs: asked, watched, ended
fork, spawn    the two ways in which one starts
raised    what student code raised, as the worker claims it
probe     code of ours that runs beside student code; `spans` reads what one tells of virtual time
asked     which arguments a check wants to read as a call left them
witness   what is seen from outside while a call is counted
timing    a call with our clock around it
trial     two functions compared by time: `pair` takes `laps` of both, `ratio` decides, within a `budget`

Whatever comes from there is a claim. Its loss is `endings.WorkerLost`.
"""
