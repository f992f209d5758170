"""A report on a fitted model, to send to a colleague: ``summarize`` gives data, ``write`` a file.

- ``summary``: what the report says, as plain data
- ``page``: the HTML page, with its own drawings in SVG (scatter plots, bars, histograms)

HTML, text and JSON show the same summary.
"""

from eigencut.report.page import write
from eigencut.report.summary import ModelSummary, summarize

__all__ = ["ModelSummary", "summarize", "write"]
