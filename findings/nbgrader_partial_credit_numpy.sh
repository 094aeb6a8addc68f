#!/usr/bin/env bash
# nbgrader: a test cell that ends with a number of NumPy's, for partial credit.
#
# Guess before the run: the number of points is the value of the cell's last line; np.mean(right) counts as
# sum(right) / len(right) does.
# Seen with nbgrader 0.9.6, one of two answers right, cells of 1 point each:
#   numpy 1.26.4, last line np.mean(right)        -> 0.5 points
#   numpy 2.4.6, last line np.mean(right)         -> 1 point, and so is np.float64(0.0)
#   either, last line float(np.mean(right))       -> 0.5 points
# nbgrader reads the number from the text that the notebook shows. Since NumPy 2 that is "np.float64(0.5)", which is no
# number, and output that is no number is full credit; a line of the log says so, for each submission. So an update of
# NumPy turns partial credit, and 0, into full points. `tensor(0.5)` and `Fraction(1, 2)` have always been full points.
# What helps: float(...) around the last line.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/write.py" <<'PY'
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

LINES = {
    "python": "sum(right) / len(right)",
    "numpy": "import numpy as np\nnp.mean(right)",
    "nothing": "import numpy as np\nnp.float64(0)",
    "float": "import numpy as np\nfloat(np.mean(right))",
}


def cell(source, name, test):
    about = {"schema_version": 3, "grade_id": name, "grade": test, "solution": not test, "locked": test, "task": False}
    return new_code_cell(source, metadata={"nbgrader": about | ({"points": 1} if test else {})})


cells = [cell("### BEGIN SOLUTION\nright = [True, True]\n### END SOLUTION", "answer", False)]
cells += [cell(lines, name, True) for name, lines in LINES.items()]
kernel = {"name": "python3", "language": "python", "display_name": "Python 3"}
course = Path(sys.argv[1])
for place, answer in (("source/ps", None), ("submitted/ann/ps", "right = [True, False]")):
    if answer:
        cells[0].source = answer
    (course / place).mkdir(parents=True)
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), course / place / "p.ipynb")
(course / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.course_id = "course"\n')
PY
cat > "$folder/points.py" <<'PY'
import sys

from nbgrader.api import Gradebook

with Gradebook(f"sqlite:///{sys.argv[1]}/gradebook.db") as gradebook:
    [notebook] = gradebook.find_submission("ps", "ann").notebooks
    points = {grade.cell.name: grade.auto_score for grade in notebook.grades}
print(" ".join(f"{name}={points[name]}" for name in ("python", "numpy", "nothing", "float")))
PY
python3 -m venv "$folder/venv"
export PATH="$folder/venv/bin:$PATH" JUPYTER_DATA_DIR="$folder/data" JUPYTER_CONFIG_DIR="$folder/config"
for numpy in 1.26.4 2.4.6; do
    # shellcheck disable=SC2086
    "$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} nbgrader==0.9.6 nbformat==5.11.1 ipykernel==7.4.0 "numpy==$numpy"
    python "$folder/write.py" "$folder/$numpy"
    (cd "$folder/$numpy" && nbgrader generate_assignment ps && nbgrader autograde ps) > "$folder/log" 2>&1 ||
        { cat "$folder/log" >&2; exit 1; }
    seen=$(python -W ignore "$folder/points.py" "$folder/$numpy")
    echo "nbgrader 0.9.6, numpy $numpy: $seen"
    case $numpy in
        1.*) expected="python=0.5 numpy=0.5 nothing=0.0 float=0.5" ;;
        *) expected="python=0.5 numpy=1.0 nothing=1.0 float=0.5" ;;
    esac
    [[ $seen == "$expected" ]] || { echo "the behaviour has changed" >&2; exit 1; }
done
