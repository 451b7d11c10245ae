"""The wheel: built twice to the same bytes, checked, installed where nothing else is, and every verb run from it.

``python .ci/wheel.py FOLDER``, in an environment that has ``build`` and ``twine``, and ``cyclonedx-bom`` for a bill of
materials. FOLDER/dist then has the archives and the bill; the sizes of what was installed are printed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

TOP = Path(__file__).parents[1]
NEEDS = {
    "live": "crowdopt[live]",
    "report": "crowdopt[plots]",
}  # verbs that an extra is for, and what the sentence without it names
# what the example of ``check`` has HiGHS's own command do
SOLVED = "import highspy; h = highspy.Highs(); h.readModel('model.mps'); h.run(); h.writeSolution('point.sol', 0)"
MEGABYTE = 2**20


def run(*command: object, folder: Path | None = None) -> str:
    """A command's output; what it said is shown where it fails."""
    words = [str(word) for word in command]
    plain = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(words, cwd=folder, env=plain, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{shlex.join(words)}: status {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def built(folder: Path) -> dict[str, str]:
    """Build both archives, the wheel out of the source archive; name -> digest."""
    run(sys.executable, "-m", "build", "--outdir", folder, TOP)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def emptied(folder: Path) -> Path:
    """A folder that has nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def examples(crowdopt: Path, verb: str) -> list[str]:
    """The commands that the help of a verb shows, from a new campaign on."""
    lines = re.findall(r"^    crowdopt (.*)$", run(crowdopt, verb, "--help"), re.MULTILINE)
    first = "init my-campaign"
    return lines if lines[0] == first else [first, *lines]


def verbs_run(crowdopt: Path, desk: Path) -> int:
    """Type every verb's example in a folder of its own; those that need an extra say so in a sentence."""
    verbs = re.findall(r"^ {2}([a-z][a-z-]*) +[A-Z]", run(crowdopt, "--help"), re.MULTILINE)
    for verb in verbs:
        place = emptied(desk / verb)
        for line in examples(crowdopt, verb):
            if line.endswith(" point.sol"):
                run(crowdopt.with_name("python"), "-c", SOLVED, folder=place)
            done = subprocess.run([crowdopt, *shlex.split(line)], cwd=place, capture_output=True, text=True)
            told = done.stderr.strip()
            extra = verb in NEEDS and done.returncode == 2 and NEEDS[verb] in told and "Traceback" not in told
            if done.returncode and not extra:
                raise SystemExit(f"crowdopt {line}: status {done.returncode}\n{told[-3000:]}")
    return len(verbs)


def _files(path: Path) -> list[Path]:
    return [one for one in path.rglob("*") if one.is_file()] if path.is_dir() else [path]


def sizes(site: Path) -> list[tuple[int, str]]:
    """Bytes of each thing that stands in an environment, largest first."""
    whole = {path.name: sum(one.stat().st_size for one in _files(path)) for path in site.iterdir()}
    return sorted(((size, name) for name, size in whole.items()), reverse=True)


def main(folder: Path) -> None:
    """All of it, in order; stops with a sentence at what does not hold."""
    first, second = built(emptied(folder / "dist")), built(emptied(folder / "again"))
    if first != second:
        raise SystemExit(f"two builds differ: {first} and {second}")
    archives = sorted((folder / "dist").iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *archives)
    print(f"built twice to the same bytes: {', '.join(first)}")
    shutil.rmtree(folder / "environment", ignore_errors=True)
    venv.create(folder / "environment", with_pip=True)
    scripts = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
    run(scripts / "python", "-m", "pip", "install", "--quiet", next(path for path in archives if path.suffix == ".whl"))
    print(f"every one of {verbs_run(scripts / 'crowdopt', folder / 'desk')} verbs ran from the wheel")
    site = Path(run(scripts / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    large = [f"{name} {size / MEGABYTE:.0f}" for size, name in sizes(site) if size > 5 * MEGABYTE]
    print(f"the environment has {sum(size for size, _ in sizes(site)) / MEGABYTE:.0f} MB: {', '.join(large)}")
    if find_spec("cyclonedx_py") is None:
        print("no bill of materials: pip install cyclonedx-bom")
        return
    bill = folder / "dist" / "crowdopt.cdx.json"
    run(sys.executable, "-m", "cyclonedx_py", "environment", scripts / "python", "--output-reproducible", "-o", bill)
    print(f"bill of materials: {bill}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python .ci/wheel.py FOLDER")
    main(Path(sys.argv[1]).resolve())
