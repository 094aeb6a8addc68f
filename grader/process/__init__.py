"""How a process of ours is started (`start`), measured from outside (`clock`), ended (`end`), swept up after (`sweep`).

Standard library only.
"""
