"""LaTeX as GitHub writes it in Markdown, turned into MathML: browsers typeset that without a script or a network."""

from __future__ import annotations

import re

from latex2mathml.converter import convert

FENCED = re.compile(r"^( *)```math\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"\$`(.+?)`\$", re.DOTALL)
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


def set_apart(text: str) -> tuple[str, dict[str, str]]:
    """The text with a word in place of each formula, which Markdown leaves alone, and what the words stand for."""
    formulas: dict[str, str] = {}

    def word(latex: str, display: bool) -> str:
        name = f"formula{len(formulas):04d}x"
        formulas[name] = typeset(latex, display=display)
        return name

    text = FENCED.sub(lambda found: f"{found[1]}{word(found[2], True)}", text)
    return INLINE.sub(lambda found: word(found[1], False), text), formulas
