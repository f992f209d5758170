"""The few loops that are worth C: one interface (``NumpyKernels``), two builds.

``chosen`` is the build in C (``native.py`` over ``csrc/``) where the library was compiled when
eigencut was installed, and the one in numpy otherwise, or where ``EIGENCUT_NATIVE=0`` is in the
environment. Both give the same results, up to rounding. It imports runtime only.

The loops: ``weighted_sums`` of new rows, ``symmetric_product`` with a complete graph,
``near_points`` of a search in float32, ``neighbor_sums`` over the edges of a new row, those to its
reverse neighbours included, and for landmarks ``near_in_cells`` and ``membership_sums``.
"""

from __future__ import annotations

from eigencut.kernels.native import native_kernels
from eigencut.kernels.numpy_kernels import NumpyKernels

chosen: NumpyKernels = native_kernels() or NumpyKernels()
