"""The submission's modules are imported from the bytes that were handed in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from support import RIGHT, WarmGrade, written

from grader.model import Course
from grader.worker.importer import OwnModules

TWICE = "def twice(x):\n    return 2 * x\n"
USES = "from {} import twice\n\n\ndef double(x):\n    return twice(x)\n\n\ndef double_(x):\n    return x.mul_(2)\n"


@pytest.mark.parametrize(
    ("files", "points"),
    [
        ({"double.py": USES.format("test"), "test.py": TWICE}, 10),
        ({"double.py": USES.format("calendar"), "calendar.py": TWICE}, 10),
        ({"double.py": "import torch, random\n" + USES.format("statistics"), "statistics.py": TWICE}, 10),
        ({"double.py": USES.format("random"), "random.py": TWICE}, 10),
        # A module that is built into the interpreter comes first, as in plain Python.
        ({"double.py": USES.format("sys"), "sys.py": TWICE}, 0),
        ({"double.py": USES.format("test.parts.more"), "test/parts/more.py": TWICE, "test/__init__.py": ""}, 10),
        ({"double.py": USES.format("own.part"), "own/part.py": f"from .other import *\nfrom ..test import y\n{TWICE}",
          "own/other.py": ""}, 0),
        ({"double.py": USES.format("own"), "own/__init__.py": "from .other import twice", "own/other.py": TWICE}, 10),
        # What no file of the submission imports is nobody's, by any name.
        ({"double.py": f"import torch, inspect\n{RIGHT}", "random.py": "1 / 0", "torch.txt": ""}, 10),
        # PyTorch stays PyTorch, as it is what values come in.
        ({"double.py": f"import torch\nassert torch.ones\n{RIGHT}", "torch.py": "1 / 0"}, 10),
        ({"double.py": f"import importlib\nimportlib.import_module('mine').y\n{RIGHT}", "mine.py": "y = 2"}, 10),
        # A file that student code writes replaces none that was read, and adds none.
        ({"double.py": f"from pathlib import Path\nPath('mine.py').write_text('1 / 0')\n{USES.format('mine')}",
          "mine.py": TWICE}, 10),
        ({"double.py": f"from pathlib import Path\nPath('new.py').write_text({TWICE!r})\n{USES.format('new')}"}, 0),
    ],
)  # fmt: skip
def test_modules_beside_the_answer(
    type_grade: WarmGrade, tiny: Course, tmp_path: Path, files: Mapping[str, str], points: int
) -> None:
    """As in plain Python they come before installed ones; they are those that were handed in, and no others."""
    folder = written(tmp_path / "ada", files)
    ran = type_grade("run", "--submission", str(folder), "double", cwd=tiny.root)
    assert f"{points} / 10 points" in ran.stdout or f"{points} of 10 points" in ran.stdout, ran.stdout


def test_an_installed_package_keeps_its_parts(tmp_path: Path) -> None:
    """A folder of the submission with an installed package's name adds no part to that package."""
    modules = OwnModules(str(tmp_path), {"torch/own.py": b"", "a.py": b""})
    assert modules.find_spec("torch.own", ["/installed/torch"]) is None
    assert modules.find_spec("a") is not None
    assert modules.find_spec("b") is None
    with pytest.raises(ImportError, match="there is no b"):
        modules.get_filename("b")
    with pytest.raises(OSError, match="was not handed in"):
        modules.get_data(str(tmp_path / "b.py"))
