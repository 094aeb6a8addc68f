"""The corpus of attacks: read as files, planted in one class with honest submissions, graded, and judged.

corpus      a file in `tests/attacks` → Attack: what is handed in, and what must come of it
secrets     canaries: random words and numbers, planted in a copy of the course and beside it, searched for afterwards
school      a folder for each author: honest ones, and attackers between them
keeper      runs the grader as a user does, and sees what it leaves behind: processes, memory, disk
host        the machine before and after, and what nobody must reach
run         one batch with honest authors alone, then with attackers between them
judge       what is wrong with what came of it
nobody      the same as an unprivileged user
"""
