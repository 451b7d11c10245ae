"""One word for each thing: the glossary's, on every page, in every help text and in every docstring that users meet."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import crowdopt
from tests.pages import FIGURES, PAGES, ROOT, name_of

GLOSSARY = ROOT / "crowdopt" / "README.md"
NOT = {  # what others call it: two words for one thing make a reader look for a difference
    "answer": ("consensus label", "aggregated label", "predicted label"),
    "capacity": ("workload limit", "quota"),
    "gap": ("optimality gap", "duality gap", "relative gap"),
    "gold": ("gold standard", "gold label", "test question", "honeypot"),
    "multiplier": ("shadow price", "dual price", "dual value", "dual variable", "marginal price"),
    "plan": ("allocation", "work schedule"),
    "queue": ("worklist", "work list"),
    "target": ("error tolerance", "risk level"),
    "truth": ("ground truth", "ground-truth", "true label", "reference label"),
    "worker": ("annotator", "rater", "crowdworker", "crowd worker", "contributor", "labeller"),
}
VAGUE = re.compile(r"\b(whoever|nobody|everybody)\b", re.IGNORECASE)  # who? A worker, all workers, any method
OLDER = {"api", "assign", "cli", "crowd", "io", "recheck"}  # rooms that still say so
CODE = re.compile(r"```.*?```|`[^`\n]*`|\$`.*?`\$|\[[^]]*\]\([^)]*\)", re.DOTALL)


def defined() -> list[str]:
    """The words of the glossary, one by one."""
    section = GLOSSARY.read_text(encoding="utf-8").split("## Words", 1)[1]
    return [word for row in re.findall(r"^\| \*\*(.+?)\*\* \|", section, re.MULTILINE) for word in row.split(", ")]


def strangers(text: str) -> list[str]:
    """Words in the text for which the glossary has another; code and titles of works are others' words."""
    plain = CODE.sub(" ", text)
    return [
        f"{other!r}: say {word!r}"
        for word, others in NOT.items()
        for other in others
        if re.search(rf"\b{other}s?\b", plain, re.IGNORECASE)
    ]


@pytest.mark.parametrize("page", [*PAGES, *FIGURES], ids=name_of)
def test_a_page_says_the_words_of_the_glossary(page: Path):
    """A page about another tool may name that tool's words as code."""
    assert not strangers(page.read_text(encoding="utf-8"))


def test_the_help_says_the_words_of_the_glossary():
    """Verbs and options, as `crowdopt VERB --help` prints them."""
    import click

    from crowdopt.cli import main
    from crowdopt.cli.manual import OURS

    verbs = {name: main.get_command(click.Context(main), name) for name in OURS}
    texts = {name: verb.get_help(click.Context(verb, info_name=name)) for name, verb in verbs.items()}
    assert not {name: strangers(text) for name, text in texts.items() if strangers(text)}


def test_public_docstrings_say_the_words_of_the_glossary():
    """What the reference shows."""
    texts = {name: inspect.getdoc(getattr(crowdopt, name)) or "" for name in dir(crowdopt)}
    assert not {name: strangers(text) for name, text in texts.items() if strangers(text)}


def test_rooms_say_whom_they_mean():
    """A worker, all workers, any method: the field has a word for each."""
    rooms = [path for path in (ROOT / "crowdopt").rglob("*.py") if path.relative_to(ROOT).parts[1] not in OLDER]
    assert not [str(path) for path in rooms if VAGUE.search(path.read_text(encoding="utf-8"))]


def test_the_glossary_defines_each_word_once_and_the_pages_use_it():
    """A word that stands there twice has two meanings, one that no page uses has none."""
    words = defined()
    assert len(words) == len(set(words)) and set(NOT) <= set(words)
    pages = [page.read_text(encoding="utf-8").lower() for page in [*PAGES, *FIGURES] if page != GLOSSARY]
    assert not [word for word in words if not any(re.search(rf"\b{word.lower()}s?\b", page) for page in pages)]
