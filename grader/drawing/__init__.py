"""Pictures of anybody's tensors, in the process that has them. It imports PyTorch; no command's own process does.

- `tensor`: what a tensor is, as data: its storage, the view on it, its dtype and device; what several of them share
- `facts`: reads that of tensors and arrays
- `evaluated`: lines about tensors, run in a worker for the page of `grade web` that draws memory
- `svg`: the same as an SVG with a box for each element, one colour for each storage
- `drawing`: tensors, shapes or values as one drawing: text in a terminal, SVG in a notebook
- `failures`: which call of PyTorch raised, with its operands
- `reasons`: why it raised: sentences and a picture
- `layers`: why layers and losses of `torch.nn` cannot take what they are given
- `explanation_parts`: what several reasons share: drawings of shapes, names of dtypes, and remedies
- `for_you`: `draw` and `explain`, as `from grader import draw, explain` gives them
- `script`: runs a script below `explain`, for `grade explain`
"""
