"""``eigencut demo``: the five-minute tour, on generated data."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from eigencut.cli.values import FILE

_TOUR = (
    "fit {0}/moons.csv --drop moon -k 2 -o {0}/moons.eigencut",
    "info {0}/moons.eigencut",
    "predict {0}/moons.eigencut {0}/new.csv --margin -o {0}/labels.csv",
)


@click.command("demo", epilog="\b\nExample:\n  eigencut demo --out tour")
@click.option(
    "--out",
    type=FILE,
    default="eigencut-demo",
    show_default=True,
    metavar="DIR",
    help="Files go here.",
)
def command(out: str) -> None:
    """Write two tables of moons, then fit, look at and use a model of them."""
    from eigencut.cli.app import app

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, n_rows, seed in (("moons", 1000, 0), ("new", 300, 1)):
        _write_moons(folder / f"{name}.csv", n_rows, seed)
    for line in _TOUR:
        arguments = shlex.split(line.format(shlex.quote(out)))
        click.echo(f"$ eigencut {shlex.join(arguments)}")
        app.main(arguments, prog_name="eigencut", standalone_mode=False)
        click.echo()
    click.echo(f"$ head -n 4 {shlex.quote(f'{out}/labels.csv')}")
    click.echo("".join((folder / "labels.csv").open().readlines()[:4]), nl=False)


def _write_moons(path: Path, n_rows: int, seed: int) -> None:
    from sklearn.datasets import make_moons

    from eigencut.cli.writing import open_writer

    X, moon = make_moons(n_rows, noise=0.05, random_state=seed)
    with open_writer(str(path)) as writer:
        writer.write({"x": X[:, 0].round(4), "y": X[:, 1].round(4), "moon": moon})
