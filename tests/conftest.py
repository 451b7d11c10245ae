"""What every test shares: the order of work, signals, real data where they are, compiled loops."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies

from crowdopt import kernels, recipe, solve

LONG = (  # these files begin, so that no process is left alone with one of them at the end; those that compile the
    "tests/pins/",  # same loops are not begun together: the second finds what the first has kept
    "tests/contract/",
    "tests/test_pages.py",
    "tests/benching/test_measure.py",
    "tests/online/test_sequential.py",
    "tests/fuzz/",
    "tests/test_jobs.py",
    "tests/benching/",
    "tests/assign/",
    "tests/verbs/",
)
MOST_PROCESSES = 8  # a gigabyte each
OF_A_LIBRARY = re.compile(r"tests/contract/.*\[(\w+)(-\w+)*[:\]]")

settings.register_profile(
    "crowdopt",
    max_examples=50,  # where a test says nothing else
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("crowdopt")
with suppress(ImportError, AttributeError):  # later versions draw constants of all modules that are loaded so far:
    from hypothesis.internal.conjecture import providers  # other examples in every process, and seconds of reading

    none = providers._local_constants
    providers._get_local_constants = lambda: none


def pytest_configure() -> None:
    """Tests started in the background have SIGINT ignored, and so would every program started by a test.

    A handler, unlike SIG_IGN, is not handed on to a program that is started: it begins with the default.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "PYTEST_XDIST_WORKER" in os.environ:  # else every program that a test starts compiles the package by itself
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        sys.dont_write_bytecode = False
        gc.disable()  # until all is collected: a fifth of what that takes, and next to nothing is garbage


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """A process for each core that is ours, two at least: with one, whatever waits would be waited for."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    ours = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(max(ours, 2), MOST_PROCESSES)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first."""
    ranks = {name: rank for rank, name in enumerate(LONG)}
    items.sort(key=lambda item: next((ranks[name] for name in LONG if item.nodeid.startswith(name)), len(LONG)))


def pytest_collection_finish() -> None:
    """What was collected stays to the end: no collection of garbage need look at it, then or before.

    Hypothesis, at its first example, asks the collector who holds its generator, and warns where nobody seems to: it
    is asked before.
    """
    given(strategies.none())(lambda _: None)()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A process takes a file at a time, or all tests that share more: a solver library, damage."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFileOrLibrary(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            library = OF_A_LIBRARY.match(nodeid)
            if nodeid.startswith("tests/fuzz/"):
                return "tests/fuzz"
            if library:
                return library[1]
            return nodeid.partition("::")[0]

    return ByFileOrLibrary(config, log)


@pytest.fixture(scope="session")
def compiled() -> None:
    """The loops of plans are kept before something is done while they run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "MOMENT", 0.0)
        _solve_once()


def _solve_once() -> None:
    for rule in ("bhattacharyya", "exact-error"):
        solve(replace(recipe("R10:60x30").with_epsilon(0.1), rule=rule), nodes=2)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real label sets, named by CROWDOPT_DATA."""
    folder = os.environ.get("CROWDOPT_DATA")
    if not folder:
        pytest.skip("CROWDOPT_DATA does not name the folder of real label sets")
    return Path(folder)
