"""The wheel carries the bundled course and the pins, as grader/bundled. All else stands in pyproject.toml."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

COURSE = ("course.yaml", "constraints.txt", "constraints.lock", "exercises", "solutions")


class BuildWithCourse(build_py):
    """Copies the course beside the package's modules; where the package stays in a checkout, it is found there."""

    def run(self) -> None:
        """Build the package."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, "grader", "bundled")
        # What an earlier build left there may be gone from the course.
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for name in COURSE:
            if Path(name).is_dir():
                shutil.copytree(name, target / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
            else:
                shutil.copy(name, target)


setup(cmdclass={"build_py": BuildWithCourse})
