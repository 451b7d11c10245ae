"""The same seed gives the same bytes on another processor, and when skills differ by what rounding makes of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core import _multiarray_umath as numpy_core

ROOT = Path(__file__).parent.parent
VECTORS = {"NPY_DISABLE_CPU_FEATURES": " ".join(numpy_core.__cpu_dispatch__)}  # NumPy without its vector units
LIBRARY = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2"}  # the C library without fused multiplication
PRODUCTS = {"OPENBLAS_CORETYPE": "Prescott"}  # matrix products of an old processor
OLD = {**VECTORS, **LIBRARY, **PRODUCTS}


def outcome(folder: Path, campaigns: str, skills: str, settings: dict[str, str]) -> dict[str, str]:
    """What the verbs wrote, a digest for each file."""
    folder.mkdir()
    command = [sys.executable, "-W", "ignore", "-m", "tests.verbs_run", str(folder), campaigns, skills]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **settings}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.slow  # .ci/run also runs some default tests on an old processor
def test_an_old_processor_and_shaken_skills_change_nothing(tmp_path):
    """Plans, answers, audits, comparisons and learning; every setting at once, so that one run is enough."""
    plain = outcome(tmp_path / "plain", "few", "plain", {})
    other = outcome(tmp_path / "other", "few", "shaken", OLD)
    assert len(plain) > 50 and differing(plain, other) == []


@pytest.mark.long
def test_ten_campaigns(tmp_path, everything):
    """Every rule and policy, all settings at once."""
    other = outcome(tmp_path / "other", "all", "shaken", OLD)
    assert len(everything) > 300 and differing(everything, other) == []


@pytest.mark.long
@pytest.mark.parametrize("skills", ["plain", "shaken"])
@pytest.mark.parametrize("settings", [{}, VECTORS, LIBRARY, PRODUCTS], ids=["as-is", "vectors", "library", "products"])
def test_ten_campaigns_setting_by_setting(tmp_path, everything, settings, skills):
    """Each setting by itself."""
    assert differing(everything, outcome(tmp_path / "other", "all", skills, settings)) == []


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Ten campaigns as they are here."""
    return outcome(tmp_path_factory.mktemp("same") / "plain", "all", "plain", {})


def differing(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Files that are not the same in both."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
