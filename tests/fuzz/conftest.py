"""What all of these tests lay out once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.desk import lay, run
from tests.guides import no_pictures


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Good files, and a campaign that takes seconds to solve; every test works on a copy."""
    folder = tmp_path_factory.mktemp("desk")
    with no_pictures():
        lay(folder)
        assert run(folder, "generate R10:400x120 -o big.npz").exit_code == 0
    return folder


@pytest.fixture(autouse=True, scope="module")
def without_pictures() -> Iterator[None]:
    """Of what is damaged none is a picture."""
    with no_pictures():
        yield
