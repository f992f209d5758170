"""Settings of the documentation site: ``make docs``, or ``make docs QUICK=1`` without examples."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

from sphinx_gallery.sorting import FileNameSortKey

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
QUICK = bool(os.environ.get("QUICK"))

import eigencut  # noqa: E402

project = "eigencut"
author = "the eigencut developers"
version = release = eigencut.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_click",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "pages_from_elsewhere",  # docs/_ext
    "pictures",
]
exclude_patterns = ["_build", "_pictures", "README.md", "**/README.txt"]
smartquotes = False  # docstrings and commands have quotes and dashes of code
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # a sort key of the gallery is a class

myst_enable_extensions = ["colon_fence", "attrs_block"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "eigencut"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
_ALONE = (
    "accuracy",
    "changelog",
    "comparison",
    "faq",
    "getting-started",
    "how-it-works",
    "migration",
)
html_sidebars = {page: [] for page in _ALONE}  # pages without others beside them
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navigation_depth": 3,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}  # light or dark as the reader's screen is
copyright = "the eigencut developers, BSD-3-Clause"

# Pictures are drawn in the light of the page, and what examples warn of is part of their text.
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "within_subsection_order": FileNameSortKey,
    "filename_pattern": r"plot_",
    "plot_gallery": not QUICK,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 20,
    "remove_config_comments": True,
    "show_signature": False,
    "doc_module": ("eigencut",),
    "backreferences_dir": "gallery/backreferences",
    "abort_on_example_error": True,
}
