"""The commands and their one-line descriptions. A command's module is imported when it is used."""

from __future__ import annotations

from importlib import import_module

import click

from eigencut._version import __version__

COMMANDS = {
    "fit": "Find clusters in a table and save the model.",
    "predict": "Label the rows of a table with a saved model.",
    "update": "Add the rows of a table to a saved model; clusters keep their numbers.",
    "drift": "Say how the rows of a table differ from those of a model.",
    "align": "Give the clusters of a model the numbers of another's.",
    "select": "Choose the number of clusters and the bandwidth.",
    "assess": "Say how far a model can be trusted on new data.",
    "describe": "Say what each cluster is: columns, rules, typical rows.",
    "report": "Write a page on a model: clusters, doubt, choice, risk.",
    "hierarchy": "Show the clusters as a tree of coarser cuts.",
    "recluster": "Split one cluster; the others stay as they are.",
    "info": "Show what is in a model file.",
    "export": "Write a model as ONNX, for services without Python.",
    "demo": "Try everything on generated data.",
}


_OTHER_WORDS = {
    "help": "--help",
    "train": "fit",
    "cluster": "fit",
    "label": "predict",
    "transform": "predict",
    "evaluate": "assess",
    "score": "assess",
    "show": "info",
    "explain": "describe",
    "tree": "hierarchy",
    "split": "recluster",
    "choose": "select",
    "refit": "update",
    "partial_fit": "update",
    "monitor": "drift",
    "match": "align",
    "renumber": "align",
    "onnx": "export",
    "html": "report",
    "summarize": "report",
}


class LazyGroup(click.Group):
    """A group whose commands are modules of ``eigencut.cli.commands``."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = import_module(f"eigencut.cli.commands.{name}").command
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = arguments[0] if arguments else ""
        if name and name not in COMMANDS and not name.startswith("-"):
            context.fail(f"No such command {name!r}.{_suggestion(name)}")
        return super().resolve_command(context, arguments)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _suggestion(name: str) -> str:
    """What may have been meant."""
    from difflib import get_close_matches

    close = get_close_matches(name.lower(), COMMANDS, n=1)
    meant = _OTHER_WORDS.get(name.lower(), close[0] if close else None)
    return f" Did you mean {meant!r}?" if meant else f" There are {', '.join(COMMANDS)}."


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  eigencut fit data.csv -k 3 -o model.eigencut
  eigencut predict model.eigencut new.csv -o labels.csv
  eigencut fit --help

Exit codes: 0 done, 1 a problem with the data or the model,
2 wrong usage or a table without rows.""",
)
@click.version_option(__version__, prog_name="eigencut")
@click.option(
    "--debug", is_flag=True, help="Show where an error comes from (anywhere on the line)."
)
def app(debug: bool) -> None:
    """Spectral clustering that generalizes: fit once, label data it has never seen."""
