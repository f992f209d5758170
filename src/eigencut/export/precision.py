"""What a floating-point type can hold."""

from __future__ import annotations

from dataclasses import dataclass

from eigencut.discretization import TIE
from eigencut.extension.labelling import NUDGE


@dataclass(frozen=True)
class Precision:
    """Limits of a floating-point type."""

    lowest_exponent: float  # exp() of less is nothing
    lowest_finite: float  # of an exponent before the largest is subtracted
    largest_log: float  # exp() of more overflows
    tie: float  # scores that differ by less are equal
    exponent_error: float  # of a matrix product, tolerated
    nudge: float  # of the logarithm of a probability that must not equal the label's


PRECISIONS = {
    "float64": Precision(-700.0, -1e300, 690.0, TIE, 1e-11, NUDGE),
    "float32": Precision(-80.0, -1e37, 80.0, 1e-6, 1e-5, 1e-6),
}
