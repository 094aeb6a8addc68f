"""Is imported by any interpreter that finds it."""

import pathlib
import tempfile

print("BREACH: sitecustomize.py was read")
pathlib.Path(tempfile.gettempdir(), "wall_marker_sitecustomize").touch()
