"""``eigencut export``: a model file as ONNX."""

from __future__ import annotations

import click

from eigencut._utils.validation import printable
from eigencut.cli.options import json_option, say
from eigencut.cli.outputs import GraphOutput, check_outputs
from eigencut.cli.values import FILE


@click.command(
    "export",
    epilog="""\b
Examples:
  eigencut export model.eigencut -o model.onnx
  eigencut export model.eigencut --dtype float32 -o small.onnx""",
)
@click.argument("model", type=FILE)
@click.option(
    "-o", "--output", type=FILE, required=True, metavar="FILE", help="Where the ONNX file goes."
)
@click.option(
    "--dtype", type=click.Choice(["float64", "float32"]), default="float64", show_default=True
)
@json_option
def command(model: str, output: str, dtype: str, as_json: bool) -> None:
    """Write MODEL as an ONNX graph: rows in; labels, embedding and support out.

    Units and missing values are part of the graph. onnxruntime must agree with the model on the
    training rows before anything is written. Needs the extra: pip install 'eigencut[onnx]'.
    """
    check_outputs([GraphOutput("-o", output)], [model], as_json)

    from eigencut.cli.models import load_table_model
    from eigencut.export import to_onnx

    fitted = load_table_model(model)
    to_onnx(fitted, output, dtype=dtype)
    result = {"columns": fitted.columns_, "dtype": dtype, "output": output}
    text = f"The graph is in {output}; input X: {printable(', '.join(fitted.columns_))}"
    say(as_json, result, text, output)
