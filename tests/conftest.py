"""Shared fixtures: real data where they are, small instances with every option."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "crowdopt",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("crowdopt")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real label sets, named by CROWDOPT_DATA."""
    folder = os.environ.get("CROWDOPT_DATA")
    if not folder:
        pytest.skip("CROWDOPT_DATA does not name the folder of real label sets")
    return Path(folder)
