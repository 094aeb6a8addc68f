r"""Prints the hidden input from a thread and from a child, long after it was called.

---
exercise: tables
"""

import os
import threading
import time


def later(text):
    for _ in range(20):
        time.sleep(0.05)
        os.write(1, text.encode())


def count(text):
    threading.Thread(target=later, args=(text,), daemon=True).start()
    try:
        child = os.fork()
    except OSError:
        child = -1
    if child == 0:
        os.setsid()
        try:
            later(text)
        finally:
            os._exit(0)
    words = text.split()
    return {word: words.count(word) for word in words}


def shout(text):
    return text.upper()
