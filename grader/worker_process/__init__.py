"""The life of a worker process, as the check process sees it: started, asked, watched from outside, and ended.

process      one worker as a process: bytes to and from it, deadlines, its end
starter      what both ways to start a worker share
fork         workers that the worker server forks, which has imported torch already
spawn        workers that are fresh interpreters, one of them warm ahead of need
waiting      the time for which the check process waits for its workers
"""
