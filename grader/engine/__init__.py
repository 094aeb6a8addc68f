"""Where a batch has its work done: one exercise of one submission at a time, in lanes here or on other machines.

The batch knows `Engine` alone: bytes in, and JSON out, which a future gives.

work    what is to be done, and what came of it, as bytes
desk    grades what comes, in a lane
together  one submission, its exercises in several lanes
open    the engine that is asked for; the one of this machine
"""
