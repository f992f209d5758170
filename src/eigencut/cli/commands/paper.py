"""``eigencut paper``: the paper's experiments. The same as ``python -m eigencut paper``."""

from __future__ import annotations

import click


@click.command(
    "paper",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> None:
    """Compute the tables and figures of the paper."""
    from eigencut.paper.command import main

    raise SystemExit(main(list(arguments)))
