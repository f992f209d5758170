"""Write ONNX graphs as numpy code: arithmetic on a ``Tensor`` adds nodes to its ``OnnxGraph``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import ArrayLike

from eigencut._utils.validation import needed

# From numpy's functions to operators of ONNX; the names of others only differ in title case.
_OPERATORS = {
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "matmul": "MatMul",
    "maximum": "Max",
    "minimum": "Min",
    "absolute": "Abs",
    "isnan": "IsNaN",
    "greater_equal": "GreaterOrEqual",
    "less_equal": "LessOrEqual",
    "bitwise_and": "And",
    "bitwise_or": "Or",
    "invert": "Not",
}
_TRUTHS = {"And", "Equal", "Greater", "GreaterOrEqual", "IsNaN", "Less", "LessOrEqual", "Not", "Or"}


class Tensor(NDArrayOperatorsMixin):
    """The output of a node; numpy's operators and functions on it add further nodes."""

    def __init__(self, graph: OnnxGraph, name: str, dtype: Any) -> None:
        self.graph, self.name, self.dtype = graph, name, np.dtype(dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any) -> Tensor:
        operator = _OPERATORS.get(ufunc.__name__, ufunc.__name__.title())
        dtype = bool if operator in _TRUTHS else self.dtype
        return self.graph.node(operator, *inputs, constants=self.dtype, dtype=dtype)

    def node(self, operator: str, *inputs: Any, dtype: Any = None, **attributes: Any) -> Tensor:
        """Add a node with this tensor as first input; constant inputs become integers."""
        dtype = self.dtype if dtype is None else dtype
        return self.graph.node(operator, self, *inputs, dtype=dtype, **attributes)

    def reduce(self, kind: str, axis: int = 1, keepdims: int = 1) -> Tensor:
        """Return the Sum, Max, L2, ... of each row, as a column."""
        return self.node(f"Reduce{kind}", [axis], keepdims=keepdims)

    def place(self, kind: str) -> Tensor:
        """Return the index of the Min or Max of each row, as a column."""
        return self.node(f"Arg{kind}", dtype=np.int64, axis=1, keepdims=1)

    def clip(self, least: ArrayLike, most: ArrayLike) -> Tensor:
        return self.graph.node("Clip", self, least, most, constants=self.dtype, dtype=self.dtype)

    def astype(self, dtype: Any) -> Tensor:
        return self.node("Cast", dtype=dtype, to=self.graph.type_of(dtype))

    def take(self, places: Any, axis: int = 0) -> Any:
        """Return the rows (or columns, with ``axis=1``) with these indices."""
        return self.node("Gather", places, axis=axis)

    def unsqueeze(self, axis: int) -> Tensor:
        return self.node("Unsqueeze", [axis])

    def squeeze(self, axis: int = 1) -> Tensor:
        return self.node("Squeeze", [axis])

    def smallest(self, k: int) -> tuple[Tensor, Tensor]:
        """Return the k smallest values of each row, ascending, and their indices."""
        values = self.node("TopK", [k], n_outputs=2, axis=1, largest=0, sorted=1)
        return values, Tensor(self.graph, values.name[:-1] + "1", np.int64)


def where(condition: Tensor, then: Any, otherwise: Any) -> Any:
    """Return ``then`` where the condition holds; one of the two values must be a tensor."""
    dtype = (then if isinstance(then, Tensor) else otherwise).dtype
    return condition.graph.node("Where", condition, then, otherwise, constants=dtype, dtype=dtype)


class OnnxGraph:
    """A graph with the input ``X``, a batch of float64 rows."""

    def __init__(self) -> None:
        needed("onnxruntime", "onnx")
        self._onnx = needed("onnx", "onnx")
        self._nodes: list[Any] = []
        self._constants: dict[tuple[Any, ...], Any] = {}
        self.X = Tensor(self, "X", np.float64)

    def type_of(self, dtype: Any) -> int:
        """Return ONNX's number for a dtype."""
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def node(
        self,
        operator: str,
        *inputs: Any,
        dtype: Any,
        constants: Any = np.int64,
        n_outputs: int = 1,
        **attributes: Any,
    ) -> Tensor:
        """Add a node; inputs that are not tensors become constants of the type ``constants``."""
        tensors = [x if isinstance(x, Tensor) else self.constant(x, constants) for x in inputs]
        outputs = [f"{operator.lower()}_{len(self._nodes)}_{i}" for i in range(n_outputs)]
        names = [tensor.name for tensor in tensors]
        self._nodes.append(self._onnx.helper.make_node(operator, names, outputs, **attributes))
        return Tensor(self, outputs[0], dtype)

    def constant(self, value: ArrayLike, dtype: Any = np.float64) -> Tensor:
        """Add a constant to the graph, or return the equal one that it has."""
        array = np.asarray(value, dtype=dtype)
        array = np.ascontiguousarray(array) if array.ndim else array
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            name = f"constant_{len(self._constants)}"
            self._constants[key] = self._onnx.numpy_helper.from_array(array, name)
        return Tensor(self, self._constants[key].name, array.dtype)

    def concatenate(self, tensors: Sequence[Tensor]) -> Tensor:
        """Put the columns of tensors side by side."""
        return self.node("Concat", *tensors, dtype=tensors[0].dtype, axis=1)

    def model(
        self,
        n_columns: int,
        outputs: dict[str, tuple[Tensor, list[Any]]],
        properties: dict[str, str],
    ) -> Any:
        """Return the finished ONNX model, checked, with these outputs."""
        helper = self._onnx.helper
        infos = [helper.make_tensor_value_info("X", self.type_of(np.float64), ["n", n_columns])]
        for name, (tensor, shape) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [tensor.name], [name]))
            infos.append(helper.make_tensor_value_info(name, self.type_of(tensor.dtype), shape))
        constants = list(self._constants.values())
        graph = helper.make_graph(self._nodes, "eigencut", infos[:1], infos[1:], constants)
        model = helper.make_model(
            graph,
            producer_name="eigencut",
            ir_version=8,  # of 2022, like the operators: old enough for every runtime in use
            opset_imports=[helper.make_opsetid("", 18)],
        )
        helper.set_model_props(model, properties)
        self._onnx.checker.check_model(model)
        return model
