"""Classroom 50 runs this in the student's checkout. It must end with 0: otherwise the result is thrown away."""

import os
import subprocess
import sys
from pathlib import Path

result = Path("result.json")
result.unlink(missing_ok=True)  # a student may have committed one
script = Path(os.environ["CLASSROOM50_BUNDLE_DIR"], "grade.sh")
status = subprocess.run(["sh", script], check=False).returncode
sys.exit(0 if result.is_file() else status)
