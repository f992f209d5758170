"""A report on a fitted model, to send to a colleague: ``summarize`` gives data, ``write`` a file.

HTML (``page.py`` and templates), text and JSON show the same summary. It imports everything below
the command line but paper and partners.
"""

from eigencut.report.page import write
from eigencut.report.summary import ModelSummary, summarize

__all__ = ["ModelSummary", "summarize", "write"]
