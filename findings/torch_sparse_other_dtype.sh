#!/usr/bin/env bash
# PyTorch: another dtype for a sparse tensor with two entries at one place, as a gradient or a list of edges leaves it.
#
# Guess before the run: the entries are added first, as they are for `sqrt`, `sign` and `** 2`, so that the result is
# that of the dense tensor.
# Seen with torch 2.13.0 (CPU), and the same with 2.14.1, s with 0.6 and 0.6 at place 0, 2.0 and -2.0 at place 1:
#   s.to_dense()                                  -> [1.2, 0.0]
#   s.int(), s.long(), s.to(torch.int64)          -> [0, 0], the dense tensor's is [1, 0]
#   s.bool()                                      -> [True, True], the dense tensor's is [True, False]
#   s.to(torch.int8).sum()                        -> 0, the dense tensor's is 1
#   s.sqrt(), s.sign(), s ** 2, s.isinf()         -> as dense
#   s.coalesce().int()                            -> as dense
# Each entry is converted by itself, and what comes out still counts as not coalesced; the sum is taken later, of
# rounded numbers. The documentation warns of functions that are not linear, by the example of `sqrt`, which adds the
# entries itself. (Issue 62162 of PyTorch has the bools.) What helps: `coalesce()` before another dtype.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
cat > "$folder/look.py" <<'PY'
import sys

import torch

s = torch.sparse_coo_tensor([[0, 0, 1, 1]], [0.6, 0.6, 2.0, -2.0], (2,))
d = s.to_dense()
functions = {
    "int": lambda x: x.int(),
    "long": lambda x: x.long(),
    "to int64": lambda x: x.to(torch.int64),
    "to int8, sum": lambda x: x.to(torch.int8).sum(),
    "bool": lambda x: x.bool(),
    "sqrt": lambda x: x.sqrt(),
    "sign": lambda x: x.sign(),
    "square": lambda x: x**2,
    "isinf": lambda x: x.isinf(),
    "coalesced, int": lambda x: (x.coalesce() if x.is_sparse else x).int(),
    "coalesced, bool": lambda x: (x.coalesce() if x.is_sparse else x).bool(),
}
print(f"torch {torch.__version__}: of the sparse tensor, of the dense one")
seen = {}
for what, function in functions.items():
    of_sparse, of_dense = function(s), function(d)
    of_sparse = of_sparse.to_dense() if of_sparse.is_sparse else of_sparse
    seen[what] = of_sparse.dtype == of_dense.dtype and torch.equal(of_sparse, of_dense)
    print(f"  {what}: {of_sparse.tolist()}, {of_dense.tolist()}")
values = [s.int().to_dense().tolist(), s.bool().to_dense().tolist()]
other = {"int", "long", "to int64", "to int8, sum", "bool"}
same = seen == {what: what not in other for what in functions} and values == [[0, 0], [True, True]]
sys.exit(0 if same else "the behaviour has changed")
PY
"$folder/venv/bin/python" -W ignore "$folder/look.py"
