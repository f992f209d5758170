"""How far a clustering can be trusted on data it has not seen."""

from eigencut.risk.errors import crossed_error, dirichlet_error

__all__ = ["crossed_error", "dirichlet_error"]
