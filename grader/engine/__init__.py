"""Where a batch has its work done: one exercise of one submission at a time, in lanes here or on other machines.

The batch knows `Engine` alone: bytes in, and JSON out, which a future gives.

work    what is to be done, and what came of it, as bytes
desk    grades what comes, in a lane
together  one submission, its exercises in several lanes
open    the engine that is asked for; the one of this machine

Of other machines:

address  how a cluster is named
machine  what a machine has, and whether that is what is asked for
parcel  a course and the set-up of a run, as bytes
station  a parcel unpacked on a machine, with lanes
pending  work that is away, and lost machines
cluster, cluster_worker  a Dask cluster, seen from here and from each of its machines; these two alone import Dask
"""
