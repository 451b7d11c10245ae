"""LaTeX as GitHub writes it in Markdown, turned into MathML: browsers typeset that without a script or a network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

SAME = (  # the converter lacks these, and others mean the same
    (re.compile(r"\\(?:big|Big|bigg|Bigg)[lrm]?(?![a-zA-Z])"), ""),
    (re.compile(r"\\textstyle\b"), ""),
    (re.compile(r"\\ln\b(?=\s*\()"), r"\\,\\ln"),
    (re.compile(r"(?<!,)\\ln\b"), r"\\,\\ln\\,"),
    (re.compile(r"\\tfrac\b"), r"\\frac"),
    (re.compile(r"\\arg\b"), r"\\mathrm{arg}"),
    (re.compile(r"\\texttt\{([^}]*)\}"), r"\\text{\1}"),
    (re.compile(r"\\(under|over)line (\w|\\\w+)"), r"\\\1line{\2}"),
)


def typeset(latex: str, *, display: bool) -> str:
    """One formula as MathML.

    Parameters
    ----------
    latex : str
    display : bool
        Whether it stands on lines of its own.
    """
    for pattern, other in SAME:
        latex = pattern.sub(other, latex)
    return str(convert(" ".join(latex.split()), display="block" if display else "inline"))


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(typeset(node.astext(), display=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math" tabindex="0">{typeset(node.astext(), display=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Have Sphinx typeset by this."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True}
