"""A report on a fitted model for a colleague: ``summarize`` gives data, ``write`` a file."""

from eigencut.report.page import write
from eigencut.report.summary import ModelSummary, summarize

__all__ = ["ModelSummary", "summarize", "write"]
