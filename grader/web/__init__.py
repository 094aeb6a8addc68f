"""`grade web`: the course, or a class, in a browser on this machine. It needs the extra `tensorgrade[web]`.

Nothing else of ours imports it. Student code runs in workers, as for every command: this process holds pages, files and
scores.

- `server`: the address with its token, the server, and how it ends
- `guard`: which requests are answered: those of the right host, with the token, from no other page
- `look`: what all pages have in common
- `live`: one runtime for all windows: grades a file when it is saved, runs lines in a worker
- `own_text`: a file that a page and another editor may both change
- `editor`: an editor of code, in which the server overwrites nothing that is typed
- `try_it`: lines to try beside an exercise
- `task`: a task as HTML, with its rules marked
- `map_page`, `exercise_page`, `memory_page`, `games_page`: what a student sees
- `student_app`: declares these pages
- `class_data`: the class, for `grade web OUT`, and what staff write about it; `change_form`: shown before it is saved
- `regrade`: the class graded again in a thread; `long_work`: how such work ends for a page
- `page_words`: sentences of commands, where pages have controls for options
- `author_page`, `checks_page`, `groups_page`, `pairs_page`, `again_page`, `return_page`: what staff see
- `staff_app`: declares these pages, and has the class as a table
"""
