#!/usr/bin/env bash
# pandas and PyTorch: a column whose cells are tensors of 0 dims, as a loop over `labels` leaves them in a list of rows.
#
# Guess before the run: `nunique`, `value_counts` and `groupby` go by the hash of a cell, which is its identity, so that
# each tensor is a value of its own: 50 of 50. And `series == tensor` is what `series == array` is.
# Seen with pandas 3.1.1, numpy 2.4.6 and torch 2.13.0 (CPU):
#   nunique       of 50 cells with five different labels is about 40, and another number for the next equal column
#   value_counts  of three zeros and three ones has 2 or 3 rows
#   groupby       has as many groups as that
#   series == t   is False everywhere without a warning, where the same array makes it True everywhere
# Equal tensors have different hashes, and pandas compares cells that fall into the same place of its table, whatever
# their hashes are: whether two equal labels become one depends on their addresses. `label.item()` in the loop helps.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6 pandas==3.1.1
"$folder/venv/bin/python" - <<'PY'
import sys
import warnings

import numpy as np
import pandas as pd
import torch

warnings.simplefilter("error")
labels = torch.arange(5).repeat(10)
tables = [pd.DataFrame([{"label": label, "count": 1} for label in labels]) for _ in range(50)]
unique = [table.label.nunique() for table in tables]
groups = [len(table.groupby("label", sort=False)["count"].sum()) for table in tables]
halves = [len(pd.Series(list(torch.tensor([0, 1] * 3))).value_counts()) for _ in range(200)]
numbers = pd.DataFrame([{"label": label.item()} for label in labels])
series, tensor = pd.Series([1, 2, 3]), torch.tensor([1, 2, 3])
print(f"pandas {pd.__version__}, numpy {np.__version__}, torch {torch.__version__}")
print(f"five labels, ten times each: nunique of 50 equal columns is {sorted(set(unique))}; of numbers {numbers.label.nunique()}")
print(f"groups of 50 equal tables: {sorted(set(groups))}")
print(f"rows of value_counts of three zeros and three ones, 200 times: {sorted(set(halves))}")
print(f"series == tensor: {(series == tensor).tolist()}, series == array: {(series == tensor.numpy()).tolist()}")
seen = {
    "some equal labels are one value, and not all": all(5 < number < 50 for number in unique + groups),
    "equal columns have different numbers": len(set(unique)) > 1 and len(set(groups)) > 1,
    "numbers are counted right": numbers.label.nunique() == 5,
    "a compared tensor": (series == tensor).tolist(),
    "a compared array": (series == tensor.numpy()).tolist(),
}
expected = {
    "some equal labels are one value, and not all": True,
    "equal columns have different numbers": True,
    "numbers are counted right": True,
    "a compared tensor": [False, False, False],
    "a compared array": [True, True, True],
}
sys.exit(0 if seen == expected else f"the behaviour has changed: {seen}")
PY
