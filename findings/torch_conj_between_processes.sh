#!/usr/bin/env bash
# PyTorch: a conjugated tensor on its way to another process, by a queue or out of a DataLoader's worker.
#
# Guess before the run: the other process gets the numbers that were sent, as from `torch.save` and `pickle`, which keep
# whether a tensor is conjugated lazily.
# Seen with torch 2.13.0 (CPU), and the same with 2.14.1, where z is [1+2j, 3-4j]:
#   torch.load of what torch.save wrote of z.conj()           -> [1-2j, 3+4j]
#   torch.multiprocessing.Queue, z.conj() sent                -> [1+2j, 3-4j] arrives
#   the same, z.conj().imag sent                              -> [2, -4] arrives, the signs of z.imag
#   DataLoader(data, batch_size=None) of spectra.conj()       -> right without a worker, not conjugated with one
# `conj` sets a bit of the tensor and leaves its memory alone, as do `mH`, `adjoint` and the negative bit of the
# imaginary part. Between processes only the memory travels, with shape and strides. Nothing is raised. What helps:
# `resolve_conj()`, `resolve_neg()`, or arithmetic, before a tensor leaves its process.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
cat > "$folder/send.py" <<'PY'
import io
import sys

import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

Z = torch.tensor([1 + 2j, 3 - 4j])


class Spectra(Dataset):
    def __len__(self):
        return 1

    def __getitem__(self, index):
        return torch.fft.fft(torch.tensor([1.0, 2.0, 3.0, 4.0])).conj()


def send(queue, done):
    queue.put(Z.conj())
    queue.put(Z.conj().imag)
    done.wait()


def numbers(tensor):
    return [complex(round(z.real, 3), round(z.imag, 3)) if isinstance(z, complex) else z for z in tensor.tolist()]


if __name__ == "__main__":
    context = mp.get_context("spawn")
    queue, done = context.Queue(), context.Event()
    sender = context.Process(target=send, args=(queue, done))
    sender.start()
    seen = {"queue, conj": numbers(queue.get(timeout=300)), "queue, imag": numbers(queue.get(timeout=300))}
    done.set()
    sender.join()
    file = io.BytesIO()
    torch.save(Z.conj(), file)
    file.seek(0)
    seen["saved"] = numbers(torch.load(file))
    for workers in (0, 1):
        loader = DataLoader(Spectra(), batch_size=None, num_workers=workers)
        seen[f"DataLoader, {workers} workers"] = numbers(next(iter(loader)))
    print(f"torch {torch.__version__}")
    for what, value in seen.items():
        print(f"  {what}: {value}")
    spectrum = [10, -2 + 2j, -2, -2 - 2j]
    expected = [
        Z.tolist(),
        [2.0, -4.0],
        [1 - 2j, 3 + 4j],
        [z.conjugate() for z in map(complex, spectrum)],
        spectrum,
    ]
    sys.exit(0 if [*seen.values()] == expected else "the behaviour has changed")
PY
"$folder/venv/bin/python" -W ignore "$folder/send.py"
