"""Public programs, unchanged, run on the CPU and with a simulated CUDA: whether they end, and what they print.

python gpu/public_programs.py CLONES [WORD ...]

CLONES is a folder with a clone of each repository that is named below, called OWNER+NAME. WORDs choose programs. Each
runs in a fresh checkout of the commit, with made-up data in the place of what it would download, from the same seeds,
and with one stream of random numbers for CPU and device. Every number with a decimal point that it prints is compared,
but for times; where there is none, the text. The tables in docs/accelerator.md come out. With `--separate` the device
has a stream of its own, as a GPU has, and is compared with itself: the second time, checkpoints are plain calls, which
must not change a number. Some programs need torchvision, SciPy, einops, matplotlib, tensorboard, tiktoken or tqdm.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import random
import re
import runpy
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import torch
from public_data import give_data

from grader.accelerator import preload, preload_operations
from grader.accelerator.sim import machine
from grader.accelerator.sim.generator import SimGenerator
from grader.accelerator.tools import launcher

_TIMES = re.compile(
    r"\d+\.\d+ ?(ms|us|s|sec|seconds|it/s)\b|(time|dt|took|elapsed|ms/batch)\W{0,4}\d+\.\d+", re.IGNORECASE
)
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
SEPARATE = False
_LONGEST = 400
"""Seconds that a program may take."""


@dataclass(frozen=True)
class Source:
    """A repository, at a commit."""

    repository: str
    commit: str
    licence: str


@dataclass(frozen=True)
class Done:
    """How a program ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


EXAMPLES = Source("pytorch/examples", "77f55b91", "BSD-3-Clause")
TUTORIALS = Source("PyTorchKorea/tutorials-kr", "84b7db6e", "BSD-3-Clause")
GANS = Source("eriklindernoren/PyTorch-GAN", "36d3c77e", "MIT")
YUNJEY = Source("yunjey/pytorch-tutorial", "0500d3df", "MIT")
MINGPT = Source("karpathy/minGPT", "37baab71", "MIT")
MAKEMORE = Source("karpathy/makemore", "988aa59e", "MIT")
NANOGPT = Source("karpathy/nanoGPT", "3adf61e1", "MIT")
PYGCN = Source("tkipf/pygcn", "1600b5b7", "MIT")

_SMALL = "--n_epochs 1 --batch_size 32 --sample_interval 1000"
# At the program's own rate of 20 such a small model diverges, and the last bit of a recurrent layer grows to a digit.
_LANGUAGE = (
    "?--accel --emsize 32 --nhid 32 --epochs 1 --batch_size 8 --bptt 16 --log-interval 5 --data data/small --lr 2"
)
_MAKEMORE = "-i names.txt --max-steps 21 --n-embd 16 --n-embd2 16 --num-workers 0 --device {device} --type"
_NANOGPT = (
    "--device={device} --compile=False --dataset=small --block_size=32 --batch_size=8 --n_layer=2 --n_head=2 "
    "--n_embd=32 --max_iters=6 --lr_decay_iters=6 --eval_iters=2 --eval_interval=6 --log_interval=1 --dropout=0.1 "
    "--gradient_accumulation_steps=2 --dtype=float32 --always_save_checkpoint=True"
)

PROGRAMS: list[tuple[Source, str, str]] = [
    (EXAMPLES, "mnist_rnn/main.py", "?--accel --epochs 1 --log-interval 5"),
    (EXAMPLES, "vae/main.py", "--epochs 1 --log-interval 1 --batch-size 50"),
    (EXAMPLES, "dcgan/main.py", "--dataset fake ?--accel --ngf 8 --ndf 8 --batchSize 16 --dry-run --workers 0"),
    (EXAMPLES, "gat/main.py", "--epochs 4 --val-every 1"),
    (EXAMPLES, "word_language_model/main.py", f"{_LANGUAGE} --model LSTM"),
    (EXAMPLES, "word_language_model/main.py", f"{_LANGUAGE} --model GRU"),
    (EXAMPLES, "word_language_model/main.py", f"{_LANGUAGE} --model RNN_TANH"),
    (EXAMPLES, "word_language_model/main.py", f"{_LANGUAGE} --model RNN_RELU"),
    (EXAMPLES, "word_language_model/main.py", f"{_LANGUAGE} --model Transformer"),
    (NANOGPT, "train.py", _NANOGPT),
    (NANOGPT, "sample.py", "--device={device} --num_samples=2 --max_new_tokens=20 --start=the --dtype=float32"),
    (MINGPT, "projects/adder/adder.py", "--trainer.max_iters=11 --trainer.num_workers=0 --model.model_type=gpt-nano"),
    (MINGPT, "projects/chargpt/chargpt.py", "--trainer.max_iters=11 --trainer.num_workers=0 --data.block_size=32"),
    *((MAKEMORE, "makemore.py", f"{_MAKEMORE} {kind}") for kind in ("transformer", "gru", "rnn", "bow", "mlp")),
    (PYGCN, "pygcn/train.py", "--epochs 3"),
    (YUNJEY, "tutorials/01-basics/feedforward_neural_network/main.py", ""),
    (YUNJEY, "tutorials/02-intermediate/convolutional_neural_network/main.py", ""),
    (YUNJEY, "tutorials/02-intermediate/bidirectional_recurrent_neural_network/main.py", ""),
    (YUNJEY, "tutorials/02-intermediate/recurrent_neural_network/main.py", ""),
    *(
        (GANS, f"implementations/{name}/{name}.py", _SMALL)
        for name in (
            *("gan", "dcgan", "lsgan", "wgan", "wgan_gp", "wgan_div", "cgan", "acgan", "aae", "infogan", "sgan"),
            *("ebgan", "relativistic_gan"),
        )
    ),
    *(
        (TUTORIALS, f"{path}.py", "")
        for path in (
            *("beginner_source/basics/quickstart_tutorial", "beginner_source/basics/buildmodel_tutorial"),
            *("intermediate_source/spatial_transformer_tutorial", "intermediate_source/pruning_tutorial"),
        )
    ),
]


def main(clones: Path, words: list[str]) -> None:
    """Print the tables."""
    os.environ["MPLBACKEND"] = "agg"
    warnings.simplefilter("ignore")
    preload()
    preload_operations()
    for name in ("torchvision", "matplotlib.pyplot", "scipy.sparse", "torch.utils.tensorboard"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    print("| program | of | numbers | apart | launches | waits |\n|---|---|---|---|---|---|")
    used: dict[Source, None] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for source, program, arguments in PROGRAMS:
            if all(word in f"{source.repository}/{program} {arguments}" for word in words):
                print(row(clones, Path(scratch), source, program, arguments), flush=True)
                used[source] = None
    print("\n| repository | commit | licence |\n|---|---|---|")
    for source in used:
        print(f"| {source.repository} | {source.commit} | {source.licence} |")


def row(clones: Path, scratch: Path, source: Source, program: str, arguments: str) -> str:
    """Return a row of the table."""
    name = source.repository.replace("/", "+")
    there, here = (
        run(checkout(clones / name, scratch / device / name, source.commit), program, arguments, device)
        for device in (("cuda apart", "cuda plain") if SEPARATE else ("cuda", "cpu"))
    )
    folder = re.sub(r"(_source|_tutorial|tutorials/|implementations/|projects/)", "", program.removesuffix(".py"))
    if "--model " in arguments or "--type " in arguments:
        folder += f" {arguments.split()[-1]}"
    told = f"| {folder} | {source.repository} "
    if -signal.SIGALRM in (here.returncode, there.returncode):
        return f"{told}| not done in {_LONGEST} seconds |"
    for done, where in ((here, "the device, with plain calls" if SEPARATE else "the CPU"), (there, "the device")):
        if done.returncode:
            last = (re.findall(r"^\w+(?:\.\w+)*(?:Error|Exception|Interrupt).*", done.stderr, re.MULTILINE) or [""])[-1]
            return f"{told}| fails on {where}: {last[:160]} |"
    mine, asked = (list(map(float, _NUMBER.findall(_TIMES.sub("", done.stdout)))) for done in (there, here))
    if len(mine) != len(asked):
        return f"{told}| {len(mine)} numbers on the device, {len(asked)} on the CPU |"
    apart = max([abs(a - b) / max(abs(b), 1e-2) for a, b in zip(mine, asked, strict=True)], default=0.0)
    if not asked and re.sub(r"cuda(:\d)?", "cpu", there.stdout) != here.stdout:
        return f"{told}| another text on the device than on the CPU |"
    launches, waits = (_counted(rf"^{word} +([\d,]*\d)", there.stderr) for word in ("launches", "waits"))
    return f"{told}| {len(asked) or 'a text'} | {apart:.1e} | {launches} | {waits} |"


def _counted(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found.group(1) if found else "0"


def checkout(clone: Path, folder: Path, commit: str) -> Path:
    """Lay out the programs of a commit in a new folder, with the data that they look for; return the folder."""
    if not folder.exists():
        folder.mkdir(parents=True)
        clone = clone if (clone / ".git").exists() else clone / "repo"
        wanted = ["*.py", "names.txt"] if "makemore" in str(clone) else ["*.py"]
        command = ["git", "-C", str(clone), "archive", commit, "--", *wanted]
        archive = subprocess.run(command, check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        give_data(folder)
    return folder


def run(folder: Path, program: str, arguments: str, device: str) -> Done:
    """Run a program in its folder, on a device; `?` marks what only the device is given."""
    there = device.split()[0]
    words = [word.removeprefix("?") for word in arguments.split() if there == "cuda" or word[0] != "?"]
    words = [word.replace("{device}", there) for word in words]
    path = folder / program
    with tempfile.TemporaryFile("w+b") as out, tempfile.TemporaryFile("w+b") as told:
        sys.stdout.flush()
        # Forked: what takes longest to import is there already.
        if (process := os.fork()) == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(told.fileno(), 2)
            os.chdir(path.parent)
            sys.path[:1] = [str(path.parent), str(folder)]
            _child(device, [str(path), *words])
        _, status = os.waitpid(process, 0)
        texts = []
        for file in (out, told):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    return Done(os.waitstatus_to_exitcode(status), *texts)


def _plain(function: Any, *args: Any, **options: Any) -> Any:
    """Return the result of a function without a checkpoint, so that all that backward needs is kept."""
    ours = {"use_reentrant", "context_fn", "determinism_check", "debug", "preserve_rng_state", "early_stop"}
    return function(*args, **{name: value for name, value in options.items() if name not in ours})


def _child(device: str, program: list[str]) -> NoReturn:
    """Run a program in this process, from fixed seeds, and end."""
    signal.alarm(_LONGEST)
    status = 1
    try:
        torch.set_num_threads(1)
        if device == "cuda":
            # One stream for both, as there is on the CPU; generators of the program's own start where the CPU's do.
            vars(machine)["SimGenerator"] = lambda place: torch.default_generator
            SimGenerator.salt = 0
        if device == "cuda plain":
            vars(importlib.import_module("torch.utils.checkpoint"))["checkpoint"] = _plain
        torch.manual_seed(0)
        np.random.seed(0)
        random.seed(0)
        if device != "cpu":
            status = launcher.main(["--devices", "2", *program])
        else:
            sys.argv = program
            runpy.run_path(program[0], run_name="__main__")
            status = 0
    except SystemExit as end:
        status = int(bool(end.code))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    SEPARATE = "--separate" in sys.argv
    main(Path(sys.argv[1]).resolve(), [word for word in sys.argv[2:] if word != "--separate"])
