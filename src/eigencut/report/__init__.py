"""A report on a fitted model, to send to a colleague: ``summarize`` gives data, ``write`` a file.

HTML (``page.py`` and templates), text (``sentences.py``) and JSON show the same summary. It imports
everything below the command line but paper and partners.
"""

from eigencut.report.summary import ModelSummary, summarize
from eigencut.report.writing import write

__all__ = ["ModelSummary", "summarize", "write"]
