"""Reports on fitted models: ``summarize`` returns data and sentences, ``write`` an HTML page."""

from eigencut.report.page import write
from eigencut.report.summary import ModelSummary, summarize

__all__ = ["ModelSummary", "summarize", "write"]
