"""A short way to write ONNX graphs: nodes are calls, and what they return names their output."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

_OPSET, _IR_VERSION = 18, 8  # of 2022: old enough for every runtime in use


def import_onnx() -> Any:
    """The onnx package, or how to get it."""
    try:
        import onnx
        import onnxruntime  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "Exporting needs onnx and onnxruntime. Install them: pip install 'eigencut[onnx]'"
        ) from error
    return onnx


class OnnxGraph:
    """Collects the nodes and constants of a graph with the input ``X``.

    ``graph("Add", a, b)`` adds a node and returns the name of its output.
    """

    def __init__(self, dtype: str) -> None:
        onnx = import_onnx()
        self.dtype = np.dtype(dtype)
        self.DOUBLE, self.INT32 = onnx.TensorProto.DOUBLE, onnx.TensorProto.INT32
        self._onnx = onnx
        self._type = onnx.helper.np_dtype_to_tensor_dtype(self.dtype)
        self._nodes: list[Any] = []
        self._constants: dict[tuple[Any, ...], Any] = {}

    def __call__(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.several(1, operator, *inputs, **attributes)[0]

    def several(self, n: int, operator: str, *inputs: str, **attributes: Any) -> list[str]:
        """A node with n outputs."""
        outputs = [f"{operator.lower()}_{len(self._nodes)}_{i}" for i in range(n)]
        node = self._onnx.helper.make_node(operator, list(inputs), outputs, **attributes)
        self._nodes.append(node)
        return outputs

    def reduce(self, kind: str, name: str) -> str:
        """Sum, Max, L2, ... over each row, as a column."""
        return self(f"Reduce{kind}", name, self.integers([1]), keepdims=1)

    def cast(self, name: str) -> str:
        """To the type of this graph."""
        return self("Cast", name, to=self._type)

    def in_units(self, rows: str, center: ArrayLike | None, exponent: int, farthest: float) -> str:
        """Rows, around a center, in units of a power of two; in float64, lest digits be lost."""
        moved = rows if center is None else self("Sub", rows, self.double(center))
        first = -exponent // 2  # two factors, for one power of two can be beyond float64
        for power in (first, -exponent - first):
            moved = self("Mul", moved, self.double(math.ldexp(1.0, power)))
        return self("Clip", moved, self.double(-farthest), self.double(farthest))

    def number(self, value: ArrayLike) -> str:
        """A constant in the type of this graph."""
        return self._constant(np.asarray(value, dtype=self.dtype))

    def double(self, value: ArrayLike) -> str:
        return self._constant(np.asarray(value, dtype=np.float64))

    def integers(self, value: ArrayLike) -> str:
        return self._constant(np.asarray(value, dtype=np.int64))

    def _constant(self, value: Any) -> str:
        value = np.ascontiguousarray(value) if value.ndim else value
        key = (value.dtype.str, value.shape, value.tobytes())
        if key not in self._constants:
            name = f"constant_{len(self._constants)}"
            self._constants[key] = self._onnx.numpy_helper.from_array(value, name)
        return str(self._constants[key].name)

    def model(
        self,
        n_columns: int,
        outputs: dict[str, str],
        n_clusters: int,
        n_numbers: int,
        properties: dict[str, str],
    ) -> Any:
        """The checked model, for batches of any size."""
        helper, proto = self._onnx.helper, self._onnx.TensorProto
        per_cluster = ["n", n_clusters]
        # Of the others, a column per cluster.
        shapes = {"labels": ["n"], "support": ["n"], "probabilities": ["n", n_numbers]}
        types = {"labels": proto.INT64}  # of the others, that of this graph
        for name, inner in outputs.items():
            self._nodes.append(helper.make_node("Identity", [inner], [name]))
        graph = helper.make_graph(
            self._nodes,
            "eigencut",
            [helper.make_tensor_value_info("X", self._type, ["n", n_columns])],
            [
                helper.make_tensor_value_info(
                    name, types.get(name, self._type), shapes.get(name, per_cluster)
                )
                for name in outputs
            ],
            list(self._constants.values()),
        )
        model = helper.make_model(
            graph,
            producer_name="eigencut",
            ir_version=_IR_VERSION,
            opset_imports=[helper.make_opsetid("", _OPSET)],
        )
        helper.set_model_props(model, properties)
        self._onnx.checker.check_model(model)
        return model
