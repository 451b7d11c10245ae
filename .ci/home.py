"""Where the package lives, once it has a home: ``CROWDOPT_HOME=https://HOST/OWNER/crowdopt/blob/main python -m build``.

The page on a package index then has absolute links, and addresses beside it. Without the variable it is README.md as it
is, and there are no addresses: none is known yet, and one that leads nowhere is worse than none.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

README = Path(__file__).parents[1] / "README.md"
LINK = re.compile(r"(!?)(\[[^]]*\]\()(?!\w+:|#)([^)#\s]+)")
PAGES = {"Documentation": "/crowdopt/README.md", "Changelog": "/CHANGELOG.md"}


def absolute(text: str, home: str) -> str:
    """The page with its links to files, and its pictures, below an address."""
    return LINK.sub(lambda one: f"{one[1]}{one[2]}{home}/{one[3]}{'?raw=true' if one[1] else ''}", text)


class Home(MetadataHookInterface):
    """The two entries of the metadata that depend on the home."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add them."""
        home, text = os.environ.get("CROWDOPT_HOME", "").rstrip("/"), README.read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, home) if home else text}
        source = home.partition("/blob/")[0]
        named = {"Source": source, "Issues": f"{source}/issues", **{name: home + path for name, path in PAGES.items()}}
        metadata["urls"] = named if home else {}
