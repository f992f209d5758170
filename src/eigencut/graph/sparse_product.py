"""A sparse matrix in fixed blocks of rows, multiplied in threads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut.runtime.threads import for_each

_BLOCK_ENTRIES = 1 << 19  # of the matrix in a block; fewer are not worth a thread


class SparseProduct:
    """Multiplies a ``scipy.sparse.csr_array`` with blocks of columns.

    scipy's product runs in one thread, but it releases the interpreter's lock. Every row of the
    product is one sum in a fixed order, so the result does not depend on the number of threads.

    Parameters
    ----------
    matrix : csr_array

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> SparseProduct(csr_array(np.array([[2.0, 1.0], [1.0, 3.0]]))) @ np.eye(2)
    array([[2., 1.],
           [1., 3.]])
    """

    def __init__(self, matrix: Any) -> None:
        from scipy.sparse import csr_array

        self._n_rows, n_columns = matrix.shape
        n_blocks = max(1, matrix.nnz // _BLOCK_ENTRIES)
        bounds = np.linspace(0, self._n_rows, n_blocks + 1).astype(np.intp)
        self._blocks = []
        for start, stop in pairwise(bounds):
            first, last = matrix.indptr[start], matrix.indptr[stop]
            parts = (matrix.data[first:last], matrix.indices[first:last])
            pointers = matrix.indptr[start : stop + 1] - first
            block = csr_array((*parts, pointers), shape=(stop - start, n_columns))
            self._blocks.append((slice(start, stop), block))

    def __matmul__(self, V: NDArray[np.floating]) -> Any:
        V = np.ascontiguousarray(V)
        if len(self._blocks) == 1:
            return self._blocks[0][1] @ V
        product = np.empty((self._n_rows, V.shape[1]), dtype=V.dtype)

        def fill(item: tuple[slice, Any]) -> None:
            rows, block = item
            product[rows] = block @ V

        for_each(fill, self._blocks)
        return product
