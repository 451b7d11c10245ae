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
from tests.fuzz.trials import there

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
ALWAYS = ("init", "solve", "compare", "backends", "report")  # each kind: quick, a search, processes, probes, pages
GOES_ON = ("compare", "learn", "bench")  # they keep what is finished, to go on from there
BOOTING = 0.3  # seconds of processor time; until then the interpreter may be hit before it comes to our first line
MANY = 100  # interrupts in each verb where there is time


def interrupted(desk: Path, place: Path, name: str, delay: float) -> str | None:
    """Interrupt a command after so many seconds; what is wrong with how it ended, or None."""
    folder = place / f"{name} {delay}"
    shutil.copytree(desk, folder, symlinks=True)
    before, child = there(folder), start(COMMANDS[name].split(), folder)
    time.sleep(delay)
    spent = processor_seconds(child.pid)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does: to the command and to all it has started
    try:
        said, complaint = child.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return f"{name} after {delay:.3f} s: it went on for a minute"
    left = sorted(there(folder) - before)
    shutil.rmtree(folder)
    lines = [line for line in complaint.splitlines() if line.strip() and not line.startswith("crowdopt: note: ")]
    begun = re.findall(r'File ".*/crowdopt/(?!__init__|interrupts)(.*\.py)"', complaint)
    if any(".partial" in one for one in left):
        fine = False
    elif child.returncode in (-signal.SIGINT, 1) and spent < BOOTING and not said and not begun:
        fine = True
    elif "Traceback" in complaint or child.returncode not in (0, 130):
        fine = False
    elif child.returncode == 0:
        fine = True
    elif name not in GOES_ON and left and "interrupted; this is the best" not in said:
        fine = False
    else:
        fine = "interrupted" in said or (len(lines) == 1 and "interrupted" in lines[0])
    return None if fine else f"{name} after {delay:.3f} s: exit {child.returncode}, {complaint[-600:]!r}, left {left}"


def processor_seconds(number: int) -> float:
    """What a process has computed so far: on a busy machine seconds of the clock say nothing of how far it has come."""
    try:
        return sum(psutil.Process(number).cpu_times()[:2])
    except psutil.NoSuchProcess:
        return float("inf")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in ALWAYS)) for name in COMMANDS]
)
def test_an_early_interrupt_is_one_sentence(desk, tmp_path, name):
    """While the command loads, which is when a mistyped one is stopped."""
    assert not interrupted(desk, tmp_path, name, random.Random(name).uniform(0.0, 0.9))


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
