"""Pictures of tensors, from plain facts (`model.picture`): text for terminals, a sentence for the ear, SVG for pages.

draw       a picture in one of the three forms
grid       values beside the asked ones, the wrong cells marked
windows    storages as boxes: which index reads which element
shapes     shapes aligned at the right, as broadcasting does
cards      counts as bars
moments    what host and devices did, in the order of time
drawing    how text is drawn: characters of boxes, or ASCII
canvas     an SVG: its boxes, marks and words
screen     lines of a terminal as an SVG

Colours never tell anything alone: what is wrong has a mark of its own as well.
"""
