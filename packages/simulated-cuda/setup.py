"""The simulated GPU as a distribution of its own: `grader/accelerator` of this repository, as `simulated_cuda`.

The files are copied, and every mention of the package has the other name. So both can be installed side by side.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "grader" / "accelerator"


class CopyAccelerator(build_py):
    """Copies the package under its other name."""

    def run(self) -> None:
        """Build the package."""
        super().run()
        for path in sorted(SOURCE.rglob("*.py")):
            target = Path(self.build_lib, "simulated_cuda", path.relative_to(SOURCE))
            target.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text(encoding="utf-8")
            text = text.replace("from grader import accelerator", "import simulated_cuda as accelerator")
            target.write_text(text.replace("grader.accelerator", "simulated_cuda"), encoding="utf-8")


class Pure(Distribution):
    """A distribution that has modules, though none is listed."""

    def has_pure_modules(self) -> bool:
        """Let `build_py` run."""
        return True


setup(cmdclass={"build_py": CopyAccelerator}, distclass=Pure)
