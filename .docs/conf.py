"""Sphinx's settings for the site (build.py): Markdown as GitHub has it, formulas as MathML, docstrings as NumPy's."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from crowdopt import __version__

project, release, author = "crowdopt", __version__, "the crowdopt authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "mathematics"]
root_doc = "index"
language = "en"
html_theme = "pydata_sphinx_theme"
html_title = "crowdopt"
html_show_sphinx = False
html_copy_source = False
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["wide.css"]
myst_heading_anchors = 6
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"  # the docstrings say what is what
suppress_warnings = ["ref.python"]  # a public name has two: its own, and that of its module
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
napoleon_custom_sections = ["Reads", "Writes"]  # of the verbs, for their help
