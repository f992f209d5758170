"""The data sets of the paper: six of UCI, and the toys.

A set is read from the first place that has it:

1. the folder ``data_dir``, or else the one that the environment variable ``EIGENCUT_DATA`` names;
2. the cache, ``EIGENCUT_CACHE`` or the platform's folder for caches;
3. OpenML, through scikit-learn, which then fills the cache.

A file is the set's if its SHA-256 is known; any other file, and what OpenML sends, must have the
known number of rows, features and members of each class. Balance Scale is generated.
"""

from __future__ import annotations

import csv
import hashlib
import os
import sys
import warnings
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from eigencut._utils.arrays import Array, Indices

__all__ = [
    "UCI_SETS",
    "load",
    "paper_circles",
    "paper_moons",
]

_TOY_NOISE, _TOY_FACTOR = 0.05, 0.5


@dataclass(frozen=True)
class UCISet:
    """What is known of a set before it is read.

    ``openml`` is its name and version there, None where OpenML does not have the set.
    """

    name: str
    n_features: int
    class_counts: tuple[int, ...]  # sorted
    sha256: str
    url: str
    openml: tuple[str, int] | None = None

    @property
    def n_rows(self) -> int:
        return sum(self.class_counts)

    @property
    def file_name(self) -> str:
        return f"{self.name}.data"


_UCI = "https://archive.ics.uci.edu/dataset"
UCI_SETS: dict[str, UCISet] = {
    entry.name: entry
    for entry in (
        UCISet(
            "ionosphere",
            34,
            (126, 225),
            "fd6dd7864b55d56dac0a1e6e24af9ccc35bf2555ac79af8ab9f3d1daa065ab83",
            f"{_UCI}/52",
            ("ionosphere", 1),
        ),
        UCISet(
            "balance",
            4,
            (49, 288, 288),
            "182874b9d2839b10a6da7a02a49d3da2a11e7bd5a68e941d8e3db663c17fa945",
            f"{_UCI}/12",
        ),
        UCISet(
            "sonar",
            60,
            (97, 111),
            "3079c09b5d2789a0f96aff82c28e5164fafe2495c5f8da96c6c256c1bd25763f",
            f"{_UCI}/151",
            ("sonar", 1),
        ),
        UCISet(
            "diabetes",
            8,
            (268, 500),
            "6bfe5d0f379d17a0e0819b996407e3c09bf80febd4287f2ed212190dfff154af",
            "https://www.openml.org/d/37",
            ("diabetes", 1),
        ),
        UCISet(
            "banknote",
            4,
            (610, 762),
            "d0539aaed2139ba7a587b3e34fb345ce503ff7d5d33dbf9912d8e195ce425cb9",
            f"{_UCI}/267",
            ("banknote-authentication", 1),
        ),
        UCISet(
            "mammographic",
            5,
            (445, 516),
            "7cab9bc3b8a3f9f18ff60b9e8d9dd419395b8c307c1f9350875eef9ee2a05905",
            f"{_UCI}/161",
        ),
    )
}
"""The sets that ``load`` knows, by name: rows, columns, classes, digest and where they are from.

Examples
--------
>>> from experiments.paper.datasets import UCI_SETS
>>> {name: (entry.n_rows, entry.n_features) for name, entry in UCI_SETS.items()}["sonar"]
(208, 60)
"""


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> Bunch:
    """One of the six UCI sets.

    Parameters
    ----------
    name : {"ionosphere", "balance", "sonar", "diabetes", "banknote", "mammographic"}
    data_dir : path, optional
        The folder that holds ``<name>.data``: rows of numbers with the class at the end, separated
        by commas, ``?`` for a missing value, with or without a header.

    Returns
    -------
    Bunch
        ``data`` (rows of float64; missing values are NaN), ``target`` (0, 1, ... in the order of
        ``target_names``), ``target_names``, ``feature_names``, ``name`` and ``source``.

    Examples
    --------
    >>> load("balance").data.shape
    (625, 4)
    """
    if name not in UCI_SETS:
        raise ValueError(
            f"name must be one of {', '.join(UCI_SETS)}. Got {name!r}; other sets of scikit-learn "
            "are in sklearn.datasets."
        )
    entry = UCI_SETS[name]
    if name == "balance":
        return _generate_balance()
    path = _find(entry, data_dir)
    if path is not None:
        return _read(entry, path)
    return _fetch(entry)


def paper_circles(n: int, seed: int) -> tuple[Array, Indices]:
    """Two circles as in the paper's toy figure (factor 0.5 and noise 0.05: it does not say).

    Parameters
    ----------
    n, seed : int
        Of rows, and of the random numbers.

    Returns
    -------
    X, y : arrays of shape (n, 2) and (n,)

    Examples
    --------
    >>> paper_circles(10, seed=0)[0].shape
    (10, 2)
    """
    from sklearn.datasets import make_circles

    X, y = make_circles(n, factor=_TOY_FACTOR, noise=_TOY_NOISE, random_state=seed)
    return X, y


def paper_moons(n: int, seed: int) -> tuple[Array, Indices]:
    """Two moons as in the paper's toy figure (noise 0.05: it does not say).

    Parameters
    ----------
    n : int
        Rows of both moons together.
    seed : int

    Returns
    -------
    X, y : arrays
        Rows, and the moon that each is of.

    Examples
    --------
    >>> paper_moons(10, seed=0)[0].shape
    (10, 2)
    """
    from sklearn.datasets import make_moons

    X, y = make_moons(n, noise=_TOY_NOISE, random_state=seed)
    return X, y


# ------------------------------------------------------------------------------------------ places


def cache_dir() -> Path:
    """``EIGENCUT_CACHE``, or ``eigencut`` in the platform's folder for caches."""
    if chosen := os.environ.get("EIGENCUT_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "eigencut"


def _find(entry: UCISet, data_dir: str | os.PathLike[str] | None) -> Path | None:
    """The file of a set. A folder that was asked for must have it; the cache may."""
    asked = data_dir or os.environ.get("EIGENCUT_DATA")
    if asked:
        path = Path(asked) / entry.file_name
        if not path.is_file():
            called = "data_dir" if data_dir else "EIGENCUT_DATA"
            raise FileNotFoundError(
                f"{called} must be a folder that holds {entry.file_name}. Got {str(asked)!r}, "
                f"which does not; download it from {entry.url}, or leave {called} out."
            )
        return path
    path = cache_dir() / entry.file_name
    return path if path.is_file() else None


def _fetch(entry: UCISet) -> Bunch:
    remedy = (
        f"Download {entry.name} from {entry.url}, save it as {entry.file_name}, and set "
        "EIGENCUT_DATA (or --data) to its folder."
    )
    if entry.openml is None:
        raise FileNotFoundError(f"{entry.name} is not on this machine. {remedy}")
    from sklearn.datasets import fetch_openml

    name, version = entry.openml
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of retries; the error below says what failed
            found = fetch_openml(
                name,
                version=version,
                data_home=cache_dir() / "openml",
                as_frame=False,
                parser="liac-arff",
            )
    except (OSError, ValueError) as error:
        raise FileNotFoundError(
            f"{entry.name} is not on this machine and OpenML did not send it ({error}). {remedy}"
        ) from error
    data = np.asarray(found.data, dtype=np.float64)
    return _checked(
        entry,
        data,
        np.asarray(found.target, dtype=str),
        list(found.feature_names),
        f"OpenML {name}",
    )


# ----------------------------------------------------------------------------------------- reading


def _read(entry: UCISet, path: Path) -> Bunch:
    content = path.read_bytes()
    lines = [line for line in csv.reader(content.decode("utf-8").splitlines()) if line]
    names = [f"x{i}" for i in range(1, entry.n_features + 1)]
    if lines and not _is_number(lines[0][0]):
        names = lines.pop(0)[:-1]
    try:
        data = np.array([[_number(cell) for cell in line[:-1]] for line in lines])
    except ValueError as error:
        raise ValueError(
            f"{path.name} must hold rows of numbers with a class at the end. Got: {error}; "
            f"download it anew from {entry.url}."
        ) from error
    digest = hashlib.sha256(content).hexdigest()
    source = "file, checksum known" if digest == entry.sha256 else "file, shape and classes known"
    return _checked(entry, data, np.array([line[-1].strip() for line in lines]), names, source)


def _number(cell: str) -> float:
    return float("nan") if cell.strip() == "?" else float(cell)


def _is_number(cell: str) -> bool:
    try:
        _number(cell)
    except ValueError:
        return False
    return True


def _generate_balance() -> Bunch:
    """Every {1..5}^4; the class is the side of the larger torque, weight times distance."""
    data = np.array(list(product(range(1, 6), repeat=4)), dtype=np.float64)
    torque = data[:, 0] * data[:, 1] - data[:, 2] * data[:, 3]
    classes = np.array(["R", "B", "L"])[np.sign(torque).astype(int) + 1]
    names = ["left-weight", "left-distance", "right-weight", "right-distance"]
    return _checked(UCI_SETS["balance"], data, classes, names, "generated")


def _checked(
    entry: UCISet, data: Array, classes: NDArray[np.str_], names: list[str], source: str
) -> Bunch:
    target_names, target, counts = np.unique(classes, return_inverse=True, return_counts=True)
    expected = (entry.n_rows, entry.n_features)
    if data.shape != expected or tuple(sorted(counts.tolist())) != entry.class_counts:
        raise ValueError(
            f"{entry.name} must have {expected[0]} rows, {expected[1]} features and classes of "
            f"{entry.class_counts} rows. Got shape {data.shape} and {tuple(counts.tolist())}; "
            f"download it anew from {entry.url}."
        )
    return Bunch(
        data=data,
        target=target.astype(np.intp),
        target_names=target_names,
        feature_names=names,
        name=entry.name,
        source=source,
    )
