"""What two processes say to each other: bounded, typed, and free of pickle.

frames      one message on a stream: a header, a tree (JSON), data (raw memory)
transport   how bytes travel: a socket that can carry descriptors, or a pair of pipes
blocks      where tensors and arrays lie, and blocks of memory that several of them share
describe    tensors and arrays as descriptions, and back
plain       dtypes, devices, scalars, bytes and text, and back
nesting     how deep and wide containers are
exchange    what both ends know in common: objects by number, memory by block
outgoing    one message being written
incoming    one message being read

Everything that arrives is a claim. It is checked for bounds with Python integers before it is used, and every refusal
is a `ProtocolFault`.
"""
