"""The pages for those who carry the house on: what they name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / ".github").rglob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    """A file or folder that moves takes its link along."""
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert not [link for link in links if not (page.parent / link).exists()]


def test_the_pages_are_there():
    """Of a copy without dot-files this says nothing."""
    if not (ROOT / ".github").is_dir():
        pytest.skip("a copy without dot-files")
    assert {"CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"} <= {page.name for page in PAGES}
