"""Backends of another package, found by its entry points, here and in every process that is started from here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdopt import solvers as backends
from tests.strangers import environment, installed


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    code = Path(__file__).with_name("fake_backends.py").read_text(encoding="utf-8")
    points = "[crowdopt.solvers]\nfakes = fake_backends:BACKENDS\n"
    folder = installed(tmp_path_factory.mktemp("site"), "fake_backends", code, points)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", environment(folder)["PYTHONPATH"])
        patch.syspath_prepend(str(folder))
        backends.registered.cache_clear()
        yield folder
    backends.registered.cache_clear()
