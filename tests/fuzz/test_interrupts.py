"""Ctrl-C at any moment: exit 130 and one sentence, or a finished answer; and nothing half-written either way."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.fuzz.children import start

COMMANDS = {
    "init": "init new",
    "generate": "generate R10:2000x600 -o new.npz",
    "import": "import labels.csv --truth truth.csv -o new",
    "solve": "solve big.npz --time-limit 20 -o new",
    "solve by scip": "solve big.npz --method scip --time-limit 20 -o new",
    "solve by pulp": "solve big.npz --method pulp-cbc --time-limit 20 -o new",
    "verify": "verify campaign plan",
    "explain": "explain campaign --time-limit 5 -o new",
    "export": "export big.npz --program lp -o new.lp",
    "budget": "budget campaign2 --money 8 --time-limit 5 -o new",
    "rehearse": "rehearse campaign plan -o new.csv",
    "aggregate": "aggregate back.csv --plan plan --campaign campaign -o new",
    "select": "select gold.csv --workers people.csv --money 4 -o new.csv",
    "compare": "compare campaign2 --policies re-solve --trials 20 --processes 2 -o new",
    "learn": "learn --draw 5 --policies ls-ol --horizon 300 --trials 20 --processes 2 -o new",
    "bench": "bench R10:20x10 --backends exact,highs --time-limit 5 -o new",
    "backends": "backends",
    "report": "report learned",
}
GOES_ON = ("compare", "learn", "bench")  # they keep what is finished, to go on from there
BOOTING = 0.3  # seconds of processor time; until then the interpreter may be hit before it comes to our first line
DEFAULT, MANY = 1, 100  # interrupts in each verb


def interrupted(desk: Path, place: Path, name: str, delay: float) -> str | None:
    """Interrupt a command after so many seconds; what is wrong with how it ended, or None."""
    folder = place / f"{name} {delay}"
    shutil.copytree(desk, folder, symlinks=True)
    before = set(os.listdir(folder))
    child = start(COMMANDS[name].split(), folder)
    time.sleep(delay)
    spent = processor_seconds(child.pid)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does: to the command and to all it has started
    try:
        said, complaint = child.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return f"{name} after {delay:.3f} s: it went on for a minute"
    what = f"{name} after {delay:.3f} s: exit {child.returncode}, {complaint[-600:]!r}"
    new = sorted(set(os.listdir(folder)) - before)
    shutil.rmtree(folder)
    if any(one.endswith(".partial") for one in new):
        return f"{what}, left {new}"
    if child.returncode in (-signal.SIGINT, 1) and spent < BOOTING and not said and _is_booting(complaint):
        return None
    if child.returncode == 0:
        return None if "Traceback" not in complaint else what
    if child.returncode != 130 or "Traceback" in complaint:
        return what
    if name not in GOES_ON and new and "interrupted; this is the best" not in said:
        return f"{what}, left {new}"
    lines = [line for line in complaint.splitlines() if line.strip() and not line.startswith("crowdopt: note: ")]
    sentences = [line for line in lines if "interrupted" in line]
    return None if (len(sentences) == 1 and sentences == lines) or "interrupted" in said else what


def processor_seconds(number: int) -> float:
    """What a process has computed so far: on a busy machine seconds of the clock say nothing of how far it has come."""
    try:
        times = psutil.Process(number).cpu_times()
    except psutil.NoSuchProcess:
        return float("inf")
    return float(times.user + times.system)


def _is_booting(complaint: str) -> bool:
    """Whether the interpreter had not come beyond our very first line."""
    frames = re.findall(r'File ".*/crowdopt/(.*\.py)", line (\d+)', complaint)
    return all(file in ("__init__.py", "interrupts.py") for file, _ in frames)


ALWAYS = ("init", "solve", "compare", "backends", "report")  # each kind: quick, a search, processes, probes, pages


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in ALWAYS)) for name in COMMANDS]
)
def test_an_early_interrupt_is_one_sentence(desk, tmp_path, name):
    """While the command loads, which is when a mistyped one is stopped."""
    rng = random.Random(name)
    assert not [wrong for _ in range(DEFAULT) if (wrong := interrupted(desk, tmp_path, name, rng.uniform(0.0, 0.9)))]


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupt_at_any_moment_is_one_sentence(desk, tmp_path, name):
    """A hundred moments, from the start of the process to beyond its end."""
    rng, whole = random.Random(f"{name} again"), tmp_path / "whole"
    shutil.copytree(desk, whole, symlinks=True)
    began = time.monotonic()
    start(COMMANDS[name].split(), whole).communicate()
    last = min(12.0, 1.1 * (time.monotonic() - began))
    assert not [wrong for _ in range(MANY) if (wrong := interrupted(desk, tmp_path, name, rng.uniform(0.0, last)))]
