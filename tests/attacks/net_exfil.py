r"""Connects to servers of the machine, opens all unusual kinds of sockets, and looks up host names.

---
exercise: double
shown_output: tried
level: reduced
"""

import socket

PORT = 57911
NAME = "wall_marker_listener"
ODD = {
    "raw": (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    "raw 6": (socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6),
    "packet": (17, socket.SOCK_RAW, 0x300),
    "vsock": (40, socket.SOCK_STREAM, 0),
    "crypto": (38, socket.SOCK_SEQPACKET, 0),
    "bluetooth": (31, socket.SOCK_RAW, 1),
    "tipc": (30, socket.SOCK_RDM, 0),
    "express": (44, socket.SOCK_RAW, 0),
    "key": (15, socket.SOCK_RAW, 2),
    "audit": (16, socket.SOCK_RAW, 9),
    "connector": (16, socket.SOCK_RAW, 11),
    "filter": (16, socket.SOCK_RAW, 12),
    "events": (16, socket.SOCK_RAW, 15),
}


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as end:
        end.settimeout(0.02)
        end.connect(address)
        print("BREACH: connected to", address)
        end.send(b"secret")


def send(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        end.sendto(b"secret", address)  # whether it arrives is seen at the other end


def make(name):
    with socket.socket(*ODD[name]):
        print("BREACH: a socket of kind", name)


def see():
    if others := [name for _, name in socket.if_nameindex() if name != "lo"]:
        print("BREACH: network devices", others)


def look_up(name):
    print("BREACH:", name, socket.getaddrinfo(name, 80))


def tries(call, *args):
    try:
        call(*args)
    except OSError:
        pass


for call, family, address in (
    (connect, socket.AF_INET, ("127.0.0.1", PORT)),
    (connect, socket.AF_INET6, ("::1", PORT)),
    (connect, socket.AF_UNIX, "\0" + NAME),
    (connect, socket.AF_UNIX, "/tmp/" + NAME),
    (send, socket.AF_INET, ("127.0.0.1", PORT)),
    (send, socket.AF_INET, ("255.255.255.255", PORT)),
    (send, socket.AF_INET6, ("::1", PORT)),
):
    tries(call, family, address)
for name in ODD:
    tries(make, name)
tries(see)
tries(look_up, "example.org")
print("tried")


def double(x):
    return 2 * x


def halve(x):
    return x / 2
