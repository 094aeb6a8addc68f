"""What two processes say to each other: bounded, typed, and free of pickle.

frames      one message on a stream: a header, a tree (JSON), data (raw memory)
transport   how bytes travel: a socket that can carry descriptors, or a pair of pipes
memory      where tensors and arrays lie, and how one block of memory holds several of them
exchange    objects by number and memory by block, so that identity and sharing survive the journey

Everything that arrives is a claim. It is checked for bounds with Python integers before it is used, and every refusal
is a `ProtocolFault`.
"""
