"""Made-up data where public programs look for what they would download: digits, a graph, texts."""

from __future__ import annotations

import gzip
import pickle
import random
from pathlib import Path

_DIGITS = {
    "pytorch+examples": ("data/MNIST", "mnist_rnn/data/MNIST"),
    "eriklindernoren+PyTorch-GAN": ("data/mnist/MNIST", "implementations/data/MNIST"),
    "yunjey+pytorch-tutorial": ("tutorials/data/MNIST",),
    "PyTorchKorea+tutorials-kr": (*("beginner_source/basics/data/FashionMNIST", "intermediate_source/MNIST"),),
}
"""By repository: the folders where torchvision looks."""


def give_data(folder: Path) -> None:
    """Put data where the programs of a repository look for it; it is told by the folder's name."""
    repository = folder.name
    for name in _DIGITS.get(repository, ()):
        _digits(folder / name / "raw")
    text = _text(9000)
    if repository == "pytorch+examples":
        _graph(folder / "gat" / "cora")
        (folder / "vae/results").mkdir()
        for part in ("train", "valid", "test"):
            _write(folder / "word_language_model/data/small" / f"{part}.txt", text[:6000])
    if repository == "tkipf+pygcn":
        _graph(folder / "data" / "cora")
    if repository == "karpathy+minGPT":
        _write(folder / "projects/chargpt/input.txt", text + "O God, O God!")  # with which it lets the model begin
    if repository == "karpathy+nanoGPT":
        _numbered(folder / "data" / "small", text)


def _text(letters: int) -> str:
    """Return lines of made-up words, the first of which are frequent."""
    chance = random.Random(0)
    words = ["the", *("".join(chance.choices("abcdefghiklmnoprstuvwy", k=chance.randint(2, 8))) for _ in range(400))]
    lines = (" ".join(words[int(len(words) * chance.random() ** 3)] for _ in range(12)) for _ in range(letters // 12))
    return "\n".join(lines)[:letters]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _numbered(folder: Path, text: str) -> None:
    """Write a text as numbers of its letters, in nanoGPT's format."""
    folder.mkdir(parents=True, exist_ok=True)
    letters = sorted(set(text))
    numbers = b"".join(letters.index(letter).to_bytes(2, "little") for letter in text)
    for part in ("train", "val"):
        (folder / f"{part}.bin").write_bytes(numbers)
    known = {
        "vocab_size": len(letters),
        "itos": dict(enumerate(letters)),
        "stoi": {letter: i for i, letter in enumerate(letters)},
    }
    (folder / "meta.pkl").write_bytes(pickle.dumps(known))


def _graph(folder: Path, papers: int = 1600, words: int = 40) -> None:
    """Write papers with words, classes and citations, in Cora's format."""
    chance = random.Random(0)
    rows, cites = [], []
    for paper in range(papers):
        kind = chance.randrange(7)
        marks = [int(chance.random() < (0.5 if word % 7 == kind else 0.1)) for word in range(words)]
        rows.append("\t".join(map(str, (paper, *marks, f"class{kind}"))))
        cites += [f"{paper}\t{chance.randrange(papers)}" for _ in range(2)]
    _write(folder / "cora.content", "\n".join(rows) + "\n")
    _write(folder / "cora.cites", "\n".join(cites) + "\n")


def _digits(folder: Path, count: int = 320) -> None:
    """Write pictures of 28 x 28 and their classes, in MNIST's format."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(0)
    for part, many in (("train", count), ("t10k", 100)):
        images = b"\0\0\x08\x03" + b"".join(n.to_bytes(4, "big") for n in (many, 28, 28)) + chance.randbytes(many * 784)
        labels = b"\0\0\x08\x01" + many.to_bytes(4, "big") + bytes(chance.randrange(10) for _ in range(many))
        for kind, data in (("images-idx3", images), ("labels-idx1", labels)):
            (folder / f"{part}-{kind}-ubyte").write_bytes(data)
            (folder / f"{part}-{kind}-ubyte.gz").write_bytes(gzip.compress(data, 1))
