"""A workload: what is measured, read from a TOML file in ``benchmarks/workloads``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "workloads"


@dataclass(frozen=True)
class Target:
    """What must hold: ``column`` of ``method``, over or minus that of another, and a bound."""

    column: str
    method: str = "eigencut"
    times: str = ""
    minus: str = ""
    at_most: float | None = None
    at_least: float | None = None
    below: float | None = None


@dataclass(frozen=True)
class Workload:
    """One file: a task, the data, the methods, and the targets. ``n`` training rows, ``m`` new.

    ``[quick]`` in a file holds what differs with ``--quick``. With ``vary`` the workload is
    measured at each of ``values`` of that field, and exponents are fitted.
    """

    name: str
    title: str
    task: str
    methods: tuple[str, ...]
    reference: str  # ratios are to its time
    data: str = "blobs"
    options: dict[str, Any] = field(default_factory=dict)
    n: int = 0
    m: int = 0
    d: int = 2
    K: int = 2
    affinity: str = ""  # of eigencut, by name; else Gaussian at this sigma
    sigma: float | str = "median"
    scale: float = 0.5  # of the median distance
    seed: int = 0  # of the data
    seeds: int = 1  # of the method, in the task "seeds"
    repeats: int = 5
    budget: float = 40.0  # seconds after which a method is not repeated any more
    memory: bool = True
    agree_with: str = ""  # the method whose labels are the right ones
    vary: str = ""
    values: tuple[int, ...] = ()
    targets: tuple[Target, ...] = ()
    note: str = ""
    is_quick: bool = False

    def at(self, **changes: Any) -> Workload:
        return replace(self, **changes)


def workload_names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_workload(name: str, quick: bool = False) -> Workload:
    """The workload of the file ``<name>.toml``."""
    path = FOLDER / f"{name}.toml"
    if not path.exists():
        raise ValueError(f"A workload must be one of {workload_names()}. Got {name!r}.")
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    less = content.pop("quick", {})
    return from_dict({"name": name, **content, **(less if quick else {}), "is_quick": quick})


def from_dict(content: dict[str, Any]) -> Workload:
    """A workload from plain data, such as a file or JSON."""
    known = {f.name for f in fields(Workload)}
    if unknown := sorted(content.keys() - known):
        raise ValueError(
            f"A workload must have the fields {sorted(known)}. {content.get('name')} has {unknown}."
        )
    content = dict(content)
    content["targets"] = tuple(Target(**target) for target in content.get("targets", ()))
    for many in ("methods", "values"):
        content[many] = tuple(content.get(many, ()))
    return Workload(**content)
