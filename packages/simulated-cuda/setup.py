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
    """Copies `grader/accelerator` into the build, under the name `simulated_cuda`."""

    def run(self) -> None:
        """Build the distribution, and copy the package into it."""
        super().run()
        for path in sorted(SOURCE.rglob("*.py")):
            target = Path(self.build_lib, "simulated_cuda", path.relative_to(SOURCE))
            target.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text(encoding="utf-8")
            text = text.replace("from grader import accelerator", "import simulated_cuda as accelerator")
            target.write_text(text.replace("grader.accelerator", "simulated_cuda"), encoding="utf-8")


class Pure(Distribution):
    """A distribution of Python modules, though it lists none: `CopyAccelerator` copies them."""

    def has_pure_modules(self) -> bool:
        """Return True, so that setuptools runs `build_py`."""
        return True


setup(cmdclass={"build_py": CopyAccelerator}, distclass=Pure)
