"""A file that a page and another editor change: neither's text is lost."""

from __future__ import annotations

from pathlib import Path

from grader.web.own_text import keep_both, read, save


def test_a_text_is_saved_over_what_the_page_read(tmp_path: Path) -> None:
    """The page's base is the file, so it is written; the ends of lines stay as they were."""
    path = tmp_path / "own.py"
    path.write_bytes(b"a\r\nb\r\n")
    assert read(path).text == "a\nb\n"
    assert save(path, "a\nc\n", "a\nb\n") is None
    assert path.read_bytes() == b"a\r\nc\r\n"


def test_another_editors_text_is_never_overwritten(tmp_path: Path) -> None:
    """The file changed since the page read it: nothing is written, and after a choice both texts are there."""
    path = tmp_path / "own.py"
    path.write_text("theirs\n", encoding="utf-8")
    other = save(path, "mine\n", "base\n")
    assert other is not None
    assert (other.text, path.read_text(encoding="utf-8")) == ("theirs\n", "theirs\n")
    beside = keep_both(path, "mine\n", "theirs\n")
    assert (path.read_text(encoding="utf-8"), beside.read_text(encoding="utf-8")) == ("mine\n", "theirs\n")
    assert beside.name == "own.py.old"


def test_the_same_text_needs_no_choice(tmp_path: Path) -> None:
    """Both editors came to the same text."""
    path = tmp_path / "own.py"
    path.write_text("same\n", encoding="utf-8")
    assert save(path, "same\n", "base\n") is None


def test_a_file_that_is_gone_is_written_again(tmp_path: Path) -> None:
    """The page has the only copy."""
    assert save(tmp_path / "own.py", "mine\n", "base\n") is None
    assert (tmp_path / "own.py").read_text(encoding="utf-8") == "mine\n"


def test_other_encodings_are_left_alone(tmp_path: Path) -> None:
    """A file that is not UTF-8 is not edited here."""
    path = tmp_path / "own.py"
    path.write_bytes("# ü".encode("latin-1"))
    assert "is not UTF-8" in read(path).problem
    assert save(path, "mine", "") is not None
    assert path.read_bytes() == "# ü".encode("latin-1")
