"""Backends of another package, found by its entry points, here and in every process that is started from here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

backends = import_module("crowdopt.backends")  # the folder; crowdopt.backends is the call


FACTS = {
    "METADATA": "Metadata-Version: 2.1\nName: fake-backends\nVersion: 1.0\n",
    "entry_points.txt": "[crowdopt.backends]\nfakes = fake_backends:BACKENDS\n",
}


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("site")
    (folder / "fake_backends.py").write_text(
        Path(__file__).with_name("fake_backends.py").read_text(encoding="utf-8"), encoding="utf-8"
    )
    (folder / "fake_backends-1.0.dist-info").mkdir()
    for name, text in FACTS.items():
        (folder / "fake_backends-1.0.dist-info" / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
        patch.syspath_prepend(str(folder))
        backends.registered.cache_clear()
        yield folder
    backends.registered.cache_clear()
